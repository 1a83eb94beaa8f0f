"""`python -m harness` is `lesson`, without installing the project."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  the one place that an older Python reaches
    sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0])

try:
    from harness.commands.cli import main
except ModuleNotFoundError as error:
    sys.exit(f"The package {error.name} is missing. Install the requirements: pip install -e .")

main()
