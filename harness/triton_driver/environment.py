"""Variables of the environment that would change what Triton compiles, and where it keeps it."""

import os
import sys
import tempfile

from harness.launching import ptx_cache
from harness.telling.learner_error import EnvironmentFault

# Each would leave a kernel without what the simulator reads, or without the compiler's own code.
_INTERPRET = "TRITON_INTERPRET"
_DISTURBING = {
    _INTERPRET: "kernels are compiled here, never interpreted",
    "TRITON_DISABLE_LINE_INFO": "faults and counters name source lines",
    "TRITON_STORE_BINARY_ONLY": "the simulator runs the PTX",
    "TRITON_OVERRIDE_ARCH": "the simulator runs code of sm_80",
}
_FUSION = "TRITON_DEFAULT_FP_FUSION"  # a*b+c as one fma; Triton 3.10 means to change its default
_FOLDER = "TRITON_CACHE_DIR"


def settle() -> None:
    """Before Triton reads them: take out what disturbs, and say so; set what it leaves open.

    Raises EnvironmentFault where Triton has been imported to interpret.
    """
    if "triton" in sys.modules and os.environ.get(_INTERPRET, "") not in ("", "0"):
        raise EnvironmentFault(
            f"{_INTERPRET} is set, and Triton has been imported: it interprets its own functions",
            expected="kernels that Triton compiles, on a GPU or on the simulator",
            advice=f"unset {_INTERPRET}",
        )
    for name, reason in _DISTURBING.items():
        if os.environ.get(name, "") not in ("", "0"):
            del os.environ[name]
            print(f"{name} is ignored: {reason}", file=sys.stderr)
    os.environ.setdefault(_FUSION, "1")
    if not os.environ.get(_FOLDER):
        os.environ[_FOLDER] = _cache_folder()


def _cache_folder() -> str:
    """Beside the kernels in CUDA C++; where no disk takes it, a folder of this process's own."""
    kernels = ptx_cache.cache_folder()
    if kernels is None:
        return tempfile.mkdtemp(prefix="triton-")
    return str(kernels.parent / "triton")
