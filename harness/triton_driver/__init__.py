"""Triton kernels without a GPU: importing this registers a driver that runs their PTX here.

    import harness.triton_driver

    add_kernel[(blocks,)](a, b, c, n, BLOCK=1024)

The tensors decide the device: those on the CPU are simulated, those on a GPU run there.
"""

from importlib import metadata

from harness.telling.learner_error import EnvironmentFault
from harness.triton_driver import environment

environment.settle()  # before Triton is imported
try:
    from harness.triton_driver.registering import register
except ImportError as error:
    try:
        version = f"Triton {metadata.version('triton')}"
    except metadata.PackageNotFoundError:
        version = "Triton, which is not installed"
    raise EnvironmentFault(
        f"the simulator's driver cannot join {version}: {error}",
        expected="Triton 3.6 to 3.9",
        advice="pip install 'triton>=3.6,<3.10'; what a newer one has changed:\n"
        "pytest tests/triton/test_driver_canary.py",
    ) from error

register()
