"""`kernel[grid](...)`: looks at the tensors, then lets Triton launch on their device.

The only function of Triton's that we replace: `KernelInterface.__getitem__`, which plain kernels,
autotuners and heuristics share.
"""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from warnings import catch_warnings
from weakref import WeakKeyDictionary

from harness.launching.launch_shape import launch_shape
from harness.triton_driver.backend import compiling_for
from harness.triton_driver.choosing_driver import running_on
from harness.triton_driver.compile_errors import in_learners_words
from harness.triton_driver.placing import device_of_launch, on_the_gpu_of
from harness.triton_driver.triton_internals import Autotuner, JITFunction

_tuned: "WeakKeyDictionary[Any, dict[str, dict[Any, Any]]]" = WeakKeyDictionary()


def kernel_with_grid(kernel: Any, grid: Any) -> Callable[..., Any]:
    """`kernel[grid]`: what launches when called, and returns the compiled kernel."""

    def launch(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        function = function_of(kernel)
        device = device_of_launch(kernel, args, kwargs)
        _keep_apart(kernel, device)
        checked = _checked_grid(function.__name__, grid)
        # Triton warns of its own plans, and of code that it compiles all the same.
        gpu = on_the_gpu_of(args, kwargs) if device == "cuda" else nullcontext()
        with running_on(device), gpu, compiling_for(function), catch_warnings(action="ignore"):
            try:
                compiled = kernel.run(*args, grid=checked, warmup=False, **kwargs)
            except Exception as error:
                told = in_learners_words(error, function, args, kwargs)
                if told is None:
                    raise
                raise told from None
            if device == "cuda":
                from harness.launching import gpu_launch

                gpu_launch.launched(function.__name__, Path(function.fn.__code__.co_filename))
        return compiled

    return launch


def function_of(kernel: Any) -> Any:
    """The JITFunction under autotuners and heuristics."""
    while not isinstance(kernel, JITFunction):
        kernel = kernel.fn
    return kernel


def _checked_grid(kernel: str, grid: Any) -> Any:
    """The grid, or the function that gives it, refused where CUDA would refuse it."""
    if callable(grid):
        return lambda meta: _checked_grid(kernel, grid(meta))
    if type(grid) is tuple and len(grid) <= 3 and grid and all(map(_is_usual, grid)):
        return grid  # as nearly always
    return launch_shape(kernel, grid, (1,), 0).grid


def _is_usual(blocks: Any) -> bool:
    return type(blocks) is int and 0 < blocks < 1 << 16


def _keep_apart(kernel: Any, device: str) -> None:
    """An autotuner keeps the best configuration by sizes and dtypes: once for each device here."""
    while not isinstance(kernel, JITFunction):
        if isinstance(kernel, Autotuner):
            by_device = _tuned.setdefault(kernel, {})
            kernel.cache = by_device.setdefault(device, {} if by_device else kernel.cache)
        kernel = kernel.fn
