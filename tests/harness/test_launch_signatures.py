"""What a kernel declares is known as the compiler knows it."""

import pytest

from harness import cuda
from harness.launching.demangle import DemangleError, parameter_types
from harness.launching.kernel_source import kernels_in, parameters_of

TYPES = {
    "a": "const float*",
    "b": "float*",
    "n": "int",
    "half": "const __half*",
    "half_again": "const __half*",
    "pair": "__half2*",
    "brain": "const __nv_bfloat16*",
    "rows": "float4*",
    "rows_again": "const float4*",
    "count": "unsigned long",
    "wide": "long long",
    "flag": "bool",
    "byte": "signed char",
    "unsigned_byte": "unsigned char",
    "letter": "char",
    "small": "short",
    "unsigned_small": "unsigned short",
    "precise": "double",
    "table": "const float* const*",
    "memory": "void*",
    "inner": "q::Inner",
    "inner_pointer": "const q::Inner*",
    "vector": "q::Vector<…>*",
    "vector_again": "const q::Vector<…>*",
    "choice": "Choice",
    "volatile_flag": "int*",
    "shape": "uint3",
}
SOURCE = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace q { struct Inner { int x; }; template <class T, int N> struct Vector { T x[N]; }; }
enum Choice { ONE };
typedef q::Vector<float, 4> Row;
typedef float Real;
extern "C" __global__ void k(
    const Real* __restrict__ a, float* b, const int n,  // sizes, in elements
    const __half* half, const __half* half_again, __half2* pair, const __nv_bfloat16* brain,
    float4* rows, const float4* rows_again, size_t count, long long wide, bool flag,
    signed char byte, unsigned char unsigned_byte, char letter, short small,
    unsigned short unsigned_small, double precise, const float* const* table, void* memory,
    q::Inner inner, const q::Inner* inner_pointer, Row* vector, const Row* vector_again,
    Choice choice, volatile int* volatile_flag, uint3 shape) {}
extern "C" __global__ void nothing() {}
extern "C" __global__ void macro_made(
#define LIST float* x, int y
    LIST) {}
"""


@pytest.fixture(scope="module")
def signature(tmp_path_factory):
    path = tmp_path_factory.mktemp("signatures") / "kernel.cu"
    path.write_text(SOURCE)
    module = cuda.module(str(path.parent / "host.py"), "kernel.cu")
    return lambda name: module.get_function(name)._checked_name("compute_80")[1]


@pytest.mark.parametrize("name", TYPES)
def test_each_type_comes_from_the_compiler(signature, name):
    found = {p.name: str(p.type) for p in signature("k").parameters}
    assert found[name] == TYPES[name]


def test_every_parameter_is_seen(signature):
    assert [p.name for p in signature("k").parameters] == list(TYPES)


def test_sizes_come_from_the_ptx(signature):
    sizes = {p.name: p.bytes for p in signature("k").parameters}
    assert (sizes["a"], sizes["n"], sizes["flag"], sizes["inner"], sizes["shape"]) == (
        8,
        4,
        1,
        4,
        12,
    )


def test_const_pointers_are_read_only_and_nothing_else_is(signature):
    read_only = {p.name for p in signature("k").parameters if p.read_only}
    assert read_only == {name for name, type_ in TYPES.items() if type_.endswith("*")} - {
        name for name, type_ in TYPES.items() if not type_.startswith("const") or "const*" in type_
    } | {"table"}


def test_a_kernel_without_parameters_has_none(signature):
    assert signature("nothing").parameters == ()


def test_names_are_left_out_where_the_text_does_not_tell(signature):
    shown = [p.shown for p in signature("macro_made").parameters]
    assert shown == ["argument 1", "argument 2"]
    assert [str(p.type) for p in signature("macro_made").parameters] == ["float*", "int"]


def test_comments_strings_and_templates_are_no_kernels():
    source = """
    // __global__ void commented(int a) {}
    /* __global__ void out(int a) {} */
    __device__ const char* text = "__global__ void quoted(int a) {}";
    template <int N> __global__ void templated(float* x) {}
    extern "C" __global__ void __launch_bounds__(256, 2) bounded(float* x) {}
    __global__ __launch_bounds__(64) void also(float* x) {}
    """
    assert kernels_in(source) == ("bounded", "also")


def test_a_default_template_argument_does_not_split_a_parameter():
    source = "__global__ void k(Pair<int, float> pair, float (*f)[4], int n = max(1, 2)) {}"
    assert [p.name for p in parameters_of(source, "k")] == ["pair", "f", "n"]


def test_a_construct_beyond_the_reader_is_refused_and_not_guessed():
    with pytest.raises(DemangleError):
        parameter_types("_Z16lesson_signatureIFvM1AFviEEEvv")
