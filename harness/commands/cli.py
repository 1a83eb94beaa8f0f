"""The `lesson` command: what each subcommand takes. The work and the words are elsewhere."""

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.lessons import curriculum
from harness.lessons.curriculum import CurriculumError, Lesson

app = typer.Typer(
    help="Thirty-three lessons on GPU kernels. `pytest` runs the open one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Number = Annotated[str, typer.Argument(help="The lesson's number, such as 5.", metavar="NN")]


def find_root() -> Path:
    """The checkout around the current folder, else the one that holds this file."""
    found = curriculum.find_root(Path.cwd()) or curriculum.find_root(Path(__file__).parent)
    if found is None:
        raise CurriculumError(
            f"There are no lessons in {Path.cwd()} or above it: "
            "no folder there holds curriculum/curriculum.toml.\n"
            "Go into the cloned repository first (cd …), then type the command again."
        )
    return found


@app.command()
def status() -> None:
    """Show the path: what is passed, what is open, and what to type next."""
    from harness.commands.status_command import status_command

    raise typer.Exit(status_command(find_root(), Path.cwd()))


@app.command()
def watch(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="A lesson's number; then options of pytest after --.", metavar="[NN]"),
    ] = None,
    poll: Annotated[
        bool, typer.Option("--poll", help="Look at the files; for drives that report no saves.")
    ] = False,
    log: Annotated[
        Path | None, typer.Option(help="Add a line of JSON for each run to this file.")
    ] = None,
) -> None:
    """Run the open lesson, or lesson NN, and run it again whenever you save one of its files."""
    from harness.commands.watch_command import watch_command

    root = find_root()
    given = list(words or [])
    lesson = None if not given or given[0].startswith("-") else lesson_numbered(root, given.pop(0))
    raise typer.Exit(watch_command(root, Path.cwd(), lesson, given, poll=poll, log=log))


@app.command()
def hint(
    lesson: Number,
    task: Annotated[
        int | None, typer.Option(help="Of this task; else of the first that fails.")
    ] = None,
    level: Annotated[int | None, typer.Option(help="This hint, read before or not.")] = None,
) -> None:
    """Show the next hint of a lesson, one at a time."""
    from harness.commands.hint_command import hint_command

    root = find_root()
    path = curriculum.load(root)
    raise typer.Exit(hint_command(path, lesson_numbered(root, lesson), task, level))


@app.command()
def reset(
    lesson: Annotated[
        str | None, typer.Argument(help="The lesson's number, such as 5.", metavar="NN")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every lesson.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Bring a lesson back to how it was given, after a dated backup in .backups/."""
    from harness.lessons.integrity import editable_files
    from harness.lessons.reset import reset_command

    root = find_root()
    if every == (lesson is not None):
        raise typer.BadParameter("say one lesson's number, or --all")
    lessons = [folder_of(lesson)] if lesson is not None else list(editable_files(root))
    raise typer.Exit(reset_command(root, lessons, None if yes else agrees))


@app.command()
def stubs(
    check: Annotated[bool, typer.Option("--check", help="Compare; write nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite edited files too, after a backup.")
    ] = False,
    lesson: Annotated[
        str | None, typer.Option(help="One lesson's number; all without it.", metavar="NN")
    ] = None,
) -> None:
    """Generate the stubs in curriculum/ from solutions/ (for those who write lessons)."""
    from harness.commands.stubs_command import check_stubs, generate_stubs

    folder = None if lesson is None else folder_of(lesson)
    raise typer.Exit(
        check_stubs(find_root(), folder) if check else generate_stubs(find_root(), folder, force)
    )


@app.command()
def drawings(
    check: Annotated[bool, typer.Option("--check", help="Compare; write nothing.")] = False,
) -> None:
    """Draw the pictures of the lessons (for those who write lessons)."""
    from harness.commands.drawings_command import check_drawings, write_drawings

    root = find_root()
    raise typer.Exit(check_drawings(root) if check else write_drawings(root))


@app.command()
def doctor() -> None:
    """Explain what this machine is, what will run where on it, and what to mend."""
    from harness.commands.doctor import doctor_command

    raise typer.Exit(doctor_command(find_root()))


def folder_of(lesson: str) -> str:
    """The folder's name, from 5, 05, lesson_05 or curriculum/lesson_05."""
    digits = Path(lesson).name.removeprefix("lesson_")
    if not digits.isdecimal():
        raise typer.BadParameter(f"`{lesson}` is no lesson; say its number, such as 5")
    return f"lesson_{int(digits):02}"


def lesson_numbered(root: Path, text: str) -> Lesson:
    path = curriculum.load(root)
    found = path.by_name(folder_of(text))
    if found is None:
        numbers = [lesson.number for lesson in path.lessons] or [0]
        raise typer.BadParameter(
            f"there is no lesson {text}; they are numbered {numbers[0]} to {numbers[-1]}"
        )
    return found


def agrees(question: str) -> bool:
    """Ask on the terminal; no answer is a no."""
    try:
        return typer.confirm(question)
    except typer.Abort:
        typer.echo()
        return False


def main() -> None:
    """Run the command; a learner sees what went wrong in plain words, never a traceback."""
    with contextlib.suppress(AttributeError, ValueError):  # a stream that is not a terminal's
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app(prog_name="lesson")
    except CurriculumError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))
    except UnicodeDecodeError as error:
        sys.exit(f"a file is not UTF-8 text: {error.reason} at byte {error.start}")
