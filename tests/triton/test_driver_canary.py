"""Sings when a new Triton changes what the driver touches, and names what, and where to look.

How a version is added is in harness/triton_driver/README.md.
"""

import inspect
import re
import subprocess
import sys
from importlib import import_module

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401
from tests.triton.canary import PACKAGE, asked_of, calls, check_name, check_signature, sing

pytestmark = pytest.mark.simulated

# name, who needs it
NAMES = [
    ("triton.knobs:runtime.launch_enter_hook", "launcher.py is handed it, tests use it"),
    ("triton.backends:Backend", "registering.py"),
    ("triton.backends:backends", "registering.py, choosing_driver.py"),
    ("triton.backends.compiler:GPUTarget", "backend.py"),
    ("triton.backends.driver:DriverBase", "driver.py derives from it"),
    ("triton.backends.nvidia.compiler:CUDABackend.supports_target", "backend.py answers it"),
    ("triton.backends.nvidia.compiler:CUDABackend.add_stages", "backend.py cuts after the PTX"),
    ("triton.backends.nvidia.compiler:CUDABackend.hash", "backend.py puts its name before it"),
    ("triton.runtime._allocation:_allocator.get", "launcher.py asks for workspaces"),
    ("triton.runtime.autotuner:Autotuner.run", "launching.py changes its `cache`"),
    ("triton.runtime.cache:FileCacheManager", "disk_cache.py derives from it"),
    ("triton.runtime.driver:driver.set_active", "registering.py"),
    ("triton.runtime.errors:OutOfResources", "told as CUDA would"),
    ("triton.runtime.jit:JITFunction.run", "launching.py"),
    ("triton.runtime.jit:KernelInterface.__getitem__", "launching.py replaces it alone"),
]

# function, its parameters, who relies on them
SIGNATURES = [
    ("triton.runtime.jit:JITFunction.run", "self, *args, grid, warmup, **kwargs", "launching.py"),
    ("triton.runtime.autotuner:Autotuner.run", "self, *args, **kwargs", "launching.py"),
    ("triton.runtime.autotuner:Heuristics.run", "self, *args, **kwargs", "launching.py"),
    (
        "triton.backends.nvidia.compiler:CUDABackend.add_stages",
        "self, stages, options, language",
        "backend.py",
    ),
    ("triton.backends.nvidia.compiler:CUDABackend.__init__", "self, target", "backend.py"),
    (
        "triton.runtime.errors:OutOfResources.__init__",
        "self, required, limit, name",
        "compile_errors.py",
    ),
    (
        "triton.runtime.cache:FileCacheManager.__init__",
        "self, key, override, dump",
        "disk_cache.py, DiskCache",
    ),
    (
        "triton.runtime.cache:FileCacheManager.put",
        "self, data, filename, binary",
        "disk_cache.py, DiskCache",
    ),
    ("triton.runtime.cache:FileCacheManager.get_group", "self, filename", "disk_cache.py"),
    ("triton.backends.compiler:GPUTarget.__init__", "self, backend, arch, warp_size", "backend.py"),
]

LAUNCH = [  # what the launcher is called with, before the kernel's arguments
    "grid_0",
    "grid_1",
    "grid_2",
    "stream",
    "kernel.function",
    "kernel.packed_metadata",
    "launch_metadata",
    "knobs.runtime.launch_enter_hook",
    "knobs.runtime.launch_exit_hook",
    "*bound_args.values()",
]
# What Triton asks of the active driver for a kind of work that the simulator has not.
NOT_OURS = {
    "allocate_default_profile_scratch",  # of the profiler "proton"
    "assemble_tensormap_to_arg",  # TMA
    "launcher_cls",  # set in __init__
    "utils",
}


@pytest.mark.parametrize(("name", "where"), NAMES)
def test_each_name_that_we_touch_is_there(name, where):
    check_name(name, where)


@pytest.mark.parametrize(("name", "wanted", "where"), SIGNATURES)
def test_each_function_that_we_call_or_stand_in_for_takes_what_it_took(name, wanted, where):
    check_signature(name, wanted, where)


def test_a_kernel_with_its_grid_is_still_run_as_we_run_it():
    told = "import inspect as i, triton.runtime.jit as j; print(i.getsource(j.KernelInterface))"
    command = [sys.executable, "-c", told]  # ours has taken its place here
    source = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "self.run(grid=grid, warmup=False, *args, **kwargs)" not in source:
        sing(f"KernelInterface.__getitem__ is now\n{source}", "launching.py, kernel_with_grid")


def test_no_other_class_has_its_own_way_to_launch():
    from triton.runtime.autotuner import Autotuner, Heuristics
    from triton.runtime.jit import JITFunction

    for kind in (JITFunction, Autotuner, Heuristics):
        if "__getitem__" in vars(kind):
            sing(f"{kind.__name__} has a __getitem__ of its own", "launching.py, registering.py")


def test_the_launcher_is_called_with_what_it_expects():
    from triton.runtime.jit import JITFunction

    got = calls(JITFunction.run, "kernel.run")
    if got != [LAUNCH]:
        sing(f"JITFunction.run calls kernel.run with {got}", "launcher.py, Launcher.__call__")


def test_a_binary_is_loaded_with_what_we_expect():
    from triton.compiler.compiler import CompiledKernel

    got = calls(CompiledKernel._init_handles, "driver.active.utils.load_binary")
    if got != [["self.name", "self.kernel", "self.metadata.shared", "device"]]:
        sing(f"load_binary is called with {got}", "driver.py, Utilities.load_binary")
    source = inspect.getsource(CompiledKernel._init_handles)
    results = "self.module, self.function, self.n_regs, self.n_spills, self.n_max_threads ="
    if results not in source:
        sing("load_binary has to return something else", "driver.py, Utilities.load_binary")
    if calls(CompiledKernel._init_handles, "driver.active.launcher_cls") != [
        ["self.src", "self.metadata"]
    ]:
        sing("launcher_cls is called differently", "launcher.py, Launcher.__init__")


def test_the_driver_can_answer_all_that_triton_asks_of_an_active_one():
    from harness.triton_driver.driver import SimulatorDriver

    for name, path in asked_of(r"driver\.active\.(\w+)").items():
        if name not in NOT_OURS and not hasattr(SimulatorDriver, name):
            sing(f"{path} asks for driver.active.{name}", "driver.py, SimulatorDriver")


def test_the_utilities_can_answer_all_that_triton_asks_of_them():
    from harness.triton_driver.driver import Utilities

    for name, path in asked_of(r"driver\.active\.utils\.(\w+)").items():
        if not hasattr(Utilities, name):
            sing(f"{path} asks for driver.active.utils.{name}", "driver.py, Utilities")


def test_benchmarks_ask_a_device_only_for_what_it_has():
    from harness.triton_driver.modelled_time import DeviceInterface

    source = inspect.getsource(triton.testing.do_bench)
    for name in set(re.findall(r"\bdi\.(\w+)", source)):
        if not hasattr(DeviceInterface, name):
            sing(f"do_bench asks a device for {name}", "modelled_time.py, DeviceInterface")


def test_a_driver_must_define_no_more_than_ours_does():
    from triton.backends.driver import DriverBase

    from harness.triton_driver.driver import SimulatorDriver

    missing = DriverBase.__abstractmethods__ - set(vars(SimulatorDriver))
    if missing:
        sing(f"DriverBase asks for {sorted(missing)}", "driver.py, SimulatorDriver")


def test_nvidias_stages_go_through_ptx():
    from triton.backends.compiler import Language
    from triton.backends.nvidia.compiler import CUDABackend

    from harness.triton_driver.triton_internals import GPUTarget

    backend, stages = CUDABackend(GPUTarget("cuda", 80, 32)), {}
    backend.add_stages(stages, backend.parse_options({}), Language.TRITON)
    if list(stages) != ["ttir", "ttgir", "llir", "ptx", "cubin"]:
        sing(f"the stages are {list(stages)}", "backend.py, add_stages")


@triton.jit
def fill(x, value, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), value)


METADATA = (
    "name",
    "num_warps",
    "shared",
    "target",
    "global_scratch_size",
    "global_scratch_align",
    "launch_cooperative_grid",
)


def test_a_compiled_kernel_tells_what_a_launch_needs():
    compiled = fill[(1,)](torch.empty(32), 1.0, BLOCK=32)
    for name in METADATA:
        if not hasattr(compiled.metadata, name):
            sing(f"metadata.{name} of a compiled kernel is gone", "launcher.py")
    if tuple(compiled.src.signature.values()) != ("*fp32", "fp32", "constexpr"):
        sing(f"a signature reads {compiled.src.signature}", "arguments.py")


def test_a_kernel_has_two_parameters_of_tritons_own_behind_the_learners():
    compiled = fill[(1,)](torch.empty(32), 1.0, BLOCK=32)
    text = compiled.asm["ptx"]
    text = text if isinstance(text, str) else text.decode()
    head = text.partition(".entry")[2].partition(")")[0]
    if head.count(".param") != 2 + 2:
        sing(f"{head.count('.param')} parameters in the PTX, not 2 + 2", "launcher.py, _own")


def test_a_function_tells_its_parameters_and_its_file():
    for name in ("arg_names", "params", "fn", "device_caches"):
        if not hasattr(fill, name):
            sing(f"JITFunction.{name} is gone", "launching.py, launcher.py")
    if [p.is_constexpr for p in fill.params] != [False, False, True]:
        sing("KernelParam.is_constexpr says something else", "passed.py")


def test_an_autotuner_keeps_its_choices_in_a_dict_that_we_may_exchange():
    tuned = triton.autotune([triton.Config({"BLOCK": 32})], key=[])(fill)
    if not isinstance(getattr(tuned, "cache", None), dict) or tuned.fn is not fill:
        sing("Autotuner.cache or .fn is not what it was", "launching.py, _keep_apart")


VARIABLES = (
    "TRITON_CACHE_DIR",
    "TRITON_INTERPRET",
    "TRITON_DISABLE_LINE_INFO",
    "TRITON_STORE_BINARY_ONLY",
    "TRITON_OVERRIDE_ARCH",
    "TRITON_DEFAULT_FP_FUSION",
)


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_that_we_set_or_clear_still_has_its_name(name):
    if f'"{name}"' not in (PACKAGE / "knobs.py").read_text(encoding="utf-8"):
        sing(f"{name} is not read any more", "environment.py")


def test_the_files_of_a_kernel_lie_where_we_move_them(tmp_path):
    from triton.runtime.cache import FileCacheManager, get_cache_manager

    from harness.triton_driver.disk_cache import DiskCache

    if type(get_cache_manager("00" * 32)) is not DiskCache:
        sing("knobs.cache.manager_class is not asked any more", "disk_cache.py, use")
    if not {"cache_dir", "lock_path", "key"} <= set(vars(FileCacheManager("canary"))):
        sing("FileCacheManager has no cache_dir, lock_path or key", "disk_cache.py, DiskCache")


def test_a_host_descriptor_is_taken_apart_as_tritons_own_launcher_does():
    from triton.tools.tensor_descriptor import TensorDescriptor

    from harness.triton_driver.arguments import flattened

    def plain(part):
        return "base" if part is tensor else int(part)

    tensor = torch.empty(8, 16)
    descriptor = TensorDescriptor.from_tensor(tensor, [8, 16])
    got = [a.value for a in flattened(["d"], ["tensordesc<fp32[8, 16]>"], [descriptor])]
    own = import_module("triton.backends.nvidia.driver").make_tensordesc_arg
    count = len(inspect.signature(own).parameters)
    wanted = own(*(descriptor, None, None)[:count])
    if [*map(plain, got)] != [*map(plain, wanted)]:
        sing(f"a descriptor becomes {wanted[1:]}, not {got[1:]}", "arguments.py, _descriptor")


def test_the_canary_sings():
    with pytest.raises(pytest.fail.Exception) as gone:
        check_name("triton.runtime.jit:KernelInterface.launch", "launching.py")
    assert "triton.runtime.jit:KernelInterface.launch is gone" in str(gone.value)
    assert "look at harness/triton_driver: launching.py" in str(gone.value)
    with pytest.raises(pytest.fail.Exception) as changed:
        check_signature("triton.runtime.jit:JITFunction.run", "self, grid", "launching.py")
    assert "takes (self, *args, grid, warmup, **kwargs), not (self, grid)" in str(changed.value)
