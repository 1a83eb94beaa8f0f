"""Registers the simulator's backend beside NVIDIA's and makes the choosing driver active."""

from harness.triton_driver import disk_cache
from harness.triton_driver.backend import NAME, SimulatorBackend
from harness.triton_driver.choosing_driver import ChoosingDriver
from harness.triton_driver.driver import SimulatorDriver
from harness.triton_driver.launching import kernel_with_grid
from harness.triton_driver.triton_internals import (
    Backend,
    KernelInterface,
    backends,
    driver_config,
)


def register() -> None:
    """Once; a second call changes nothing."""
    if NAME in backends:
        return
    backends[NAME] = Backend(SimulatorBackend, SimulatorDriver)
    driver_config.set_active(ChoosingDriver())
    KernelInterface.__getitem__ = kernel_with_grid
    disk_cache.use()
