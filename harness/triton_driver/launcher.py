"""A launch as Triton hands it over, on the road that CUDA's launches take to the simulator."""

from pathlib import Path
from typing import Any

from harness.launching.call_site import call_site
from harness.launching.kernel_source import Declared
from harness.launching.launch_shape import launch_shape
from harness.launching.signature import Signature
from harness.launching.simulator_launch import launch_on_simulator
from harness.launching.tensors import device_of
from harness.telling.learner_error import LaunchError
from harness.triton_driver.arguments import Flat, flattened, parameter, passed
from harness.triton_driver.backend import WARP
from harness.triton_driver.language import TRITON
from harness.triton_driver.triton_internals import global_scratch_allocator


class Launcher:
    """`launcher_cls`: made once for each compiled kernel, called for each launch."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self._metadata = metadata
        self._names = tuple(src.fn.arg_names)
        self._types = tuple(src.signature.values())
        self._path = Path(src.fn.fn.__code__.co_filename)

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        entry: Any,
        kernel_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *arguments: Any,
    ) -> None:
        __tracebackhide__ = True
        name = self._metadata.name
        block = (WARP * self._metadata.num_warps,)
        shape = launch_shape(name, (grid_x, grid_y, grid_z), block, self._metadata.shared)
        flat = flattened(self._names, self._types, arguments)
        flat += self._own(shape.grid, stream, len(entry.parameters) - len(flat))
        sizes = [p.bytes for p in entry.parameters]
        parameters = tuple(parameter(a, i, sizes[i]) for i, a in enumerate(flat))
        values = [passed(a) for a in flat]
        if device_of(values, [Declared(a.name, a.type) for a in flat], "cpu") != "cpu":
            raise LaunchError(
                f"{name} was compiled for the simulator, and its tensors lie on a GPU",
                where=str(call_site()),
                expected="a compiled kernel launched on the device it was compiled for",
                advice="launch the function, kernel[grid](…): it compiles for the tensors' device",
            )
        if enter_hook is not None:
            enter_hook(launch_metadata)
        signature = Signature(name, parameters)
        together = bool(self._metadata.launch_cooperative_grid)
        launch_on_simulator(entry, signature, shape, values, self._path, together, TRITON)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _own(self, grid: tuple[int, int, int], stream: Any, count: int) -> list[Flat]:
        """Memory that Triton itself asks for: a workspace, then one for its profiler."""
        workspace = None
        size = getattr(self._metadata, "global_scratch_size", 0)
        if size:
            blocks = grid[0] * grid[1] * grid[2]
            allocate = global_scratch_allocator()
            workspace = allocate(blocks * size, self._metadata.global_scratch_align, stream)
        own = [Flat("Triton's workspace", "*i8", workspace), Flat("Triton's profile", "*i8", None)]
        return own[:count]
