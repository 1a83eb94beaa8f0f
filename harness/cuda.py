"""Kernels in CUDA C++ for the learner's Python: CuPy's names, on a GPU or on the simulator.

    vec_add_kernel = cuda.module(__file__, "kernel.cu").get_function("vec_add")
    vec_add_kernel((blocks,), (threads,), (a, b, c, np.int32(n)))

Nothing is compiled before the first launch. The tensors decide the device: those on the CPU are
simulated.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.launching import launch_settings
from harness.launching.arguments import check_arguments
from harness.launching.call_site import call_site, shown_path
from harness.launching.compiler import VIRTUAL_ARCHITECTURE, Compiled, compile_file
from harness.launching.kernel_source import Declared, parameters_of
from harness.launching.known_launches import KnownLaunches
from harness.launching.launch_shape import check_shared, launch_shape
from harness.launching.missing_kernel import missing_kernel
from harness.launching.ptx_entries import EntryHead, entry_heads
from harness.launching.resources import Resources, resources
from harness.launching.signature import Signature, signature_of
from harness.launching.simulator_launch import launch_on_simulator, parsed
from harness.launching.tensors import device_of
from harness.lessons.answers import answer_path
from harness.telling.learner_error import LaunchError

if TYPE_CHECKING:
    from harness.launching.gpu_launch import GpuKernel


def module(
    file: str,
    name: str,
    options: Sequence[str] = (),
    *,
    enable_cooperative_groups: bool = False,
) -> "CudaModule":
    """The CUDA C++ file `name` beside `file`, the caller's `__file__`.

    `options` go to the compiler: ("-DTILE=16",).
    """
    return CudaModule(answer_path(file, name), tuple(options), enable_cooperative_groups)


class CudaModule:
    """One file of kernels, compiled for a device when a kernel first runs there."""

    def __init__(self, path: Path, options: tuple[str, ...], cooperative: bool) -> None:
        self.path = path
        self.options = options
        self.cooperative = cooperative
        self._compiled: dict[str, Compiled] = {}
        self._kernels: dict[str, Kernel] = {}

    def get_function(self, name: str) -> "Kernel":
        """The kernel of that name, the same object each time: it keeps what it has checked."""
        if name not in self._kernels:
            self._kernels[name] = Kernel(self, name)
        return self._kernels[name]

    def compiled(self, architecture: str = VIRTUAL_ARCHITECTURE) -> Compiled:
        """The file compiled for "compute_80", which the simulator runs, or for a GPU: "sm_90"."""
        if architecture not in self._compiled:
            self._compiled[architecture] = compile_file(self.path, architecture, self.options)
        return self._compiled[architecture]

    def ptx(self, architecture: str = VIRTUAL_ARCHITECTURE) -> str:
        """The compiler's PTX, to read."""
        return self.compiled(architecture).ptx

    @cached_property
    def source(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            raise LaunchError(
                f"{shown_path(self.path)} cannot be read: {error.strerror}",
                where=str(call_site()),
                expected="the lesson's file of kernels",
                advice="lesson reset restores it",
            ) from error


class Kernel:
    """One kernel; calling it launches it."""

    def __init__(self, owner: CudaModule, name: str) -> None:
        self.module = owner
        self.name = name
        self._known: dict[str, tuple[EntryHead, Signature]] = {}
        self._known_launches: KnownLaunches | None = None
        self._on_gpu: dict[int, GpuKernel] = {}

    def __repr__(self) -> str:
        return f"<kernel {self.name} of {shown_path(self.module.path)}>"

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], shared_mem: int = 0
    ) -> None:
        """Launch on the device of the tensors among `args`; `shared_mem` is in bytes."""
        __tracebackhide__ = True
        arguments = self._arguments(args)
        if self._launch_again(grid, block, arguments, shared_mem):
            return
        device = device_of(arguments, self._declared, launch_settings.current().device)
        if device == "cuda":
            self._launch_on_gpu(grid, block, arguments, shared_mem)
        else:
            self._launch_on_simulator(grid, block, arguments, shared_mem)

    def resources(self, architecture: str = "sm_90", options: Sequence[str] = ()) -> Resources:
        """Registers, shared and spilled bytes, as the assembler for a GPU counts them.

        `options` come after the module's own: ("--maxrregcount=32",).
        """
        _ = self.module.source  # says so if the file is missing
        return resources(
            self.module.path, self.name, architecture, (*self.module.options, *options)
        )

    def _launch_on_simulator(
        self, grid: Any, block: Any, arguments: Sequence[Any], shared_mem: Any
    ) -> None:
        __tracebackhide__ = True
        head, signature = self._checked_name(VIRTUAL_ARCHITECTURE)
        shape = launch_shape(self.name, grid, block, shared_mem, head.maximum_threads, arguments)
        check_arguments(signature, arguments)
        entry = parsed(self.module.compiled()).entries[self.name]
        check_shared(self.name, entry.static_shared_bytes, shape.shared_bytes)
        launch_on_simulator(
            entry, signature, shape, arguments, self.module.path, self.module.cooperative
        )

    def _launch_on_gpu(
        self, grid: Any, block: Any, arguments: Sequence[Any], shared_mem: Any
    ) -> None:
        __tracebackhide__ = True
        from harness.launching import gpu_launch

        gpu = gpu_launch.gpu_of(arguments)
        head, signature = self._checked_name(gpu.architecture)
        shape = launch_shape(self.name, grid, block, shared_mem, head.maximum_threads, arguments)
        check_arguments(signature, arguments)
        if gpu.index not in self._on_gpu:
            compiled = self.module.compiled(gpu.architecture)
            self._on_gpu[gpu.index] = gpu_launch.GpuKernel(
                gpu, compiled, self.name, self.module.path, self.module.cooperative
            )
        if self._known_launches is None:
            self._known_launches = KnownLaunches(signature)
        self._known_launches.remember(grid, block, shared_mem, shape, arguments)
        self._on_gpu[gpu.index].launch(shape, arguments)

    def _launch_again(
        self, grid: Any, block: Any, arguments: Sequence[Any], shared_mem: Any
    ) -> bool:
        """Launch without the checks what has passed them before, on a GPU; else do nothing."""
        __tracebackhide__ = True
        known = self._known_launches
        if known is None:
            return False
        index = known.gpu(arguments)
        shape = known.shape(grid, block, shared_mem)
        if index is None or shape is None or index not in self._on_gpu:
            return False
        self._on_gpu[index].launch(shape, arguments)
        return True

    def _checked_name(self, architecture: str) -> tuple[EntryHead, Signature]:
        if architecture not in self._known:
            source = self.module.source  # says so if the file is missing
            compiled = self.module.compiled(architecture)
            heads = entry_heads(compiled.ptx)
            if self.name not in heads:
                raise missing_kernel(self.name, self.module.path, source, heads)
            head = heads[self.name]
            signature = signature_of(self.name, source, head.parameters, compiled.signatures)
            self._known[architecture] = head, signature
        return self._known[architecture]

    @cached_property
    def _declared(self) -> tuple[Declared, ...]:
        return parameters_of(self.module.source, self.name)

    def _arguments(self, args: Any) -> Sequence[Any]:
        if isinstance(args, (tuple, list)):
            return args
        raise LaunchError(
            f"{self.name}: the arguments are a {type(args).__name__}, not a tuple",
            where=str(call_site()),
            expected="kernel(grid, block, (first, second, …))",
            advice="one argument needs a comma to be a tuple: (x,)",
        )
