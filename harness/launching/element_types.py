"""Which tensor and scalar types a C++ parameter type takes.

Rule: the bytes must mean the same thing on both sides. Signed and unsigned integers of one size
pass for each other, since PyTorch has few unsigned types.
"""

import numpy as np

from harness.launching.demangle import CType

_INTEGERS = {
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned int": "uint32",
    "long": "int64",
    "unsigned long": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
}
_SCALARS = {
    "bool": "bool",
    "float": "float32",
    "double": "float64",
    "__half": "float16",
    **_INTEGERS,
}
_TENSORS = {
    **_SCALARS,
    "__nv_bfloat16": "bfloat16",
    "__half2": "float16",
    "__nv_bfloat162": "bfloat16",
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
}
_VECTOR_ELEMENTS = {
    "char": "int8",
    "uchar": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int": "int32",
    "uint": "uint32",
    "long": "int64",
    "ulong": "uint64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "float": "float32",
    "double": "float64",
}
_TENSORS |= {f"{stem}{n}": dtype for stem, dtype in _VECTOR_ELEMENTS.items() for n in (1, 2, 3, 4)}
_C_NAMES = {dtype: name for name, dtype in _SCALARS.items()} | {
    "int8": "signed char",
    "int64": "long long",
    "uint64": "unsigned long long",
    "bfloat16": "__nv_bfloat16",
    "float8_e4m3fn": "__nv_fp8_e4m3",
    "float8_e5m2": "__nv_fp8_e5m2",
}
_COMPLEX = {"complex64": "float2", "complex128": "double2"}


def tensor_dtype(pointee: CType) -> str | None:
    """The tensor dtype that a pointer wants ("float32"), or None if any will do: void, structs."""
    return None if pointee.pointee is not None else _TENSORS.get(pointee.name)


def takes_tensor(pointee: CType, dtype: str) -> bool:
    """Whether a pointer to `pointee` may look at a tensor of this dtype."""
    wanted = tensor_dtype(pointee)
    if wanted is None or wanted == dtype or _COMPLEX.get(dtype) == pointee.name:
        return True
    if dtype == "bool":
        return wanted in ("uint8", "int8")
    if wanted == "bool":
        return dtype in ("uint8", "int8")
    return _bare(wanted) == _bare(dtype) and "int" in wanted and "int" in dtype


def scalar_dtype(declared: CType) -> str | None:
    """The NumPy dtype that a scalar parameter wants, or None: structs, pointers."""
    return None if declared.pointee is not None else _SCALARS.get(declared.name)


def takes_scalar(declared: CType, size: int, value: np.generic) -> bool:
    """Whether a NumPy scalar has the bytes and the meaning of a parameter."""
    if value.dtype.itemsize != size:
        return False
    wanted = scalar_dtype(declared)
    if wanted is None:  # a struct: its size is all that can be told
        return True
    kind = np.dtype(wanted).kind
    if kind in "iu" and isinstance(value, np.integer):
        return kind == value.dtype.kind or 0 <= int(value) <= np.iinfo(wanted).max
    return kind == value.dtype.kind


def c_name(dtype: str) -> str:
    """How C++ spells a tensor's dtype."""
    return _C_NAMES.get(dtype, _COMPLEX.get(dtype, dtype))


def _bare(dtype: str) -> str:
    return dtype.removeprefix("u")
