"""Calls that go wrong: recursion without an end, pointers to no function, waiting for nobody."""

import time

import numpy as np
import pytest

from simulator import FaultKind, UnknownInstruction
from tests.simulator.compiled import compiled, fault, run, written

ENDLESS = """__device__ __noinline__ int count(int n, int step)
{
    if (n == 1000000) return 0;
    int below = count(n + step, step);
    return below * 3 + n;
}
extern "C" __global__ void k(int* y, int step) { y[threadIdx.x] = count(threadIdx.x, step); }"""


def test_endless_recursion_is_a_stack_overflow_at_the_line_of_the_call():
    kernel = compiled(ENDLESS, "k")
    began = time.monotonic()
    found = fault(kernel, 1, 45, np.zeros(45, np.int32), 0)
    assert time.monotonic() - began < 10
    assert found.kind is FaultKind.STACK_OVERFLOW
    assert found.line == kernel.line("count(n + step, step)")
    assert "1,024 calls deep and calls count once more (44 more threads do so too)" in found.what
    assert "condition that ends the recursion" in found.advice
    assert (found.block, found.thread) == ((0, 0, 0), (0, 0, 0))


def test_a_thread_alone_in_endless_recursion_is_named():
    kernel = compiled(
        """__device__ __noinline__ int down(int n) { return n == 0 ? 0 : down(n - 2) * 3 + n; }
extern "C" __global__ void k(int* y, int odd)
{
    y[threadIdx.x] = down(threadIdx.x == odd ? 7 : 8);
}""",
        "k",
    )
    run(kernel, 1, 40, np.zeros(40, np.int32), 99)
    found = fault(kernel, 1, 40, np.zeros(40, np.int32), 33)
    assert found.kind is FaultKind.STACK_OVERFLOW
    assert found.thread == (33, 0, 0) and "more" not in found.what.replace("once more", "")


def test_functions_that_call_each_other_for_ever_overflow_too():
    kernel = compiled(
        """__device__ int (*next)(int);
__device__ int ping(int n) { return next(n + 1) * 3 + n; }
extern "C" __global__ void k(int* y) { next = ping; y[0] = next(0); }""",
        "k",
    )
    found = fault(kernel, 1, 1, np.zeros(1, np.int32))
    assert found.kind is FaultKind.STACK_OVERFLOW and "ping" in found.what


def test_local_arrays_of_a_recursion_overflow_before_its_depth_does():
    kernel = compiled(
        """__device__ __noinline__ int walk(int n, const int* above)
{
    int mine[256];
    for (int k = 0; k < 256; ++k) mine[k] = above[k] + n;
    return n == 0 ? mine[above[3] & 255] : walk(n - 1, mine);
}
extern "C" __global__ void k(int* y, int n)
{
    int mine[256];
    for (int k = 0; k < 256; ++k) mine[k] = y[k];
    y[threadIdx.x] = walk(n, mine);
}""",
        "k",
    )
    run(kernel, 1, 1, np.zeros(256, np.int32), 10)
    found = fault(kernel, 1, 1, np.zeros(256, np.int32), 100)
    assert found.kind is FaultKind.STACK_OVERFLOW
    assert found.line == kernel.line("walk(n - 1, mine)")
    assert "bytes of local variables in all" in found.what


def test_an_index_past_the_arrays_of_all_calls_is_out_of_bounds():
    kernel = compiled(
        """__device__ __noinline__ int walk(int n, int at)
{
    int mine[4];
    for (int k = 0; k < 4; ++k) mine[k] = n + k;
    if (n) return walk(n - 1, at) * 3 + mine[at & 3];
    return mine[at];
}
extern "C" __global__ void k(int* y, int at) { y[threadIdx.x] = walk(2, at); }""",
        "k",
    )
    run(kernel, 1, 32, np.zeros(32, np.int32), 3)
    found = fault(kernel, 1, 32, np.zeros(32, np.int32), 4)
    assert found.kind is FaultKind.OUT_OF_BOUNDS
    assert found.line == kernel.line("return mine[at]")
    assert "thread's local memory" in found.what


POINTER = """typedef int (*Step)(int);
__device__ int twice(int v) { return 2 * v; }
__device__ Step good = twice;
extern "C" __global__ void k(int* y, int odd, long long bad)
{
    int t = threadIdx.x;
    Step step = t == odd ? (Step)bad : good;
    y[t] = step(t);
}"""


def test_a_call_through_a_null_pointer():
    kernel = compiled(POINTER, "k")
    run(kernel, 1, 45, np.zeros(45, np.int32), 99, np.int64(0))
    found = fault(kernel, 1, 45, np.zeros(45, np.int32), 38, np.int64(0))
    assert found.kind is FaultKind.ILLEGAL_CALL
    assert found.what == "thread 38 of block 0 calls through a null pointer"
    assert found.line == kernel.line("y[t] = step")
    assert found.thread == (38, 0, 0)


def test_a_call_through_a_pointer_to_no_function():
    kernel = compiled(POINTER, "k")
    found = fault(kernel, 1, 45, np.zeros(45, np.int32), 3, np.int64(0x1234))
    assert found.kind is FaultKind.ILLEGAL_CALL
    assert "thread 3 of block 0" in found.what and "0x1234, where no function begins" in found.what


def test_a_call_of_a_pure_virtual_function_is_one_of_a_null_pointer():
    """While Base is constructed, its own table counts, in which nothing stands for value()."""
    kernel = compiled(
        """struct Base
{
    __device__ Base(int* y);
    __device__ virtual int value() = 0;
};
__device__ __noinline__ int ask(Base* base)
{
    return base->value();
}
__device__ Base::Base(int* y) { y[0] = ask(this); }
struct Late : Base
{
    __device__ Late(int* y) : Base(y) {}
    __device__ int value() override { return 1; }
};
extern "C" __global__ void k(int* y) { Late late(y); }""",
        "k",
    )
    found = fault(kernel, 1, 1, np.zeros(1, np.int32))
    assert found.kind is FaultKind.ILLEGAL_CALL
    assert found.line == kernel.line("base->value()")


def test_a_call_with_the_arguments_of_another_function():
    kernel = compiled(
        """__device__ int add(int a, int b) { return a + b; }
typedef int (*Two)(int, int);
typedef int (*One)(double);
__device__ Two two = add;
extern "C" __global__ void k(int* y)
{
    y[0] = ((One)two)(1.0);
}""",
        "k",
    )
    found = fault(kernel, 1, 1, np.zeros(1, np.int32))
    assert found.kind is FaultKind.ILLEGAL_CALL
    assert "calls add, which takes 4 + 4 bytes, with 8 bytes" in found.what
    assert found.line == kernel.line("((One)two)")


def test_waiting_in_a_called_function_for_nobody_is_a_deadlock():
    kernel = compiled(
        """typedef void (*Step)(volatile int*);
__device__ void wait(volatile int* flag)
{
    while (*flag == 0) { }
}
__device__ Step step = wait;
extern "C" __global__ void k(volatile int* flag) { step(flag); }""",
        "k",
    )
    found = fault(kernel, 1, 45, np.zeros(1, np.int32))
    assert found.kind is FaultKind.DEADLOCK
    assert found.line == kernel.line("while (*flag")


def test_an_endless_loop_in_a_called_function_is_proven():
    kernel = compiled(
        """typedef int (*Step)(const int*, int);
__device__ int search(const int* x, int k)
{
    while (x[k] != 9) k = k < 2 ? k + 1 : 0;
    return k;
}
__device__ Step step = search;
extern "C" __global__ void k(const int* x, int* y)
{
    y[threadIdx.x] = step(x, threadIdx.x % 3);
}""",
        "k",
    )
    found = fault(kernel, 1, 33, np.zeros(3, np.int32), np.zeros(33, np.int32))
    assert found.kind is FaultKind.ENDLESS_LOOP
    assert "loops for ever: it comes back to where it was" in found.what
    assert found.line == kernel.line("while (x[k] != 9)")


def test_recursion_that_takes_too_long_says_how_deep_it_is():
    kernel = compiled(
        """__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void k(int* y) { y[0] = fibonacci(60); }""",
        "k",
    )
    found = fault(kernel, 1, 1, np.zeros(1, np.int32), seconds=0.5)
    assert found.kind is FaultKind.ENDLESS_LOOP
    assert "calls deep" in found.what


@pytest.mark.parametrize("call", ["call f, (a), kind;", "call part, (a);"])
def test_registers_as_arguments_are_named_as_unknown(call):
    """PTX knows them; no compiler writes them."""
    kernel = written(
        f"mov.u64 f, part; mov.u32 a, 3; kind: .callprototype _ (.param .b32 _); {call} ret;",
        registers=[("u64", "f"), ("b32", "a")],
        before=".func part (.param .b32 v) { ret; }",
    )
    with pytest.raises(UnknownInstruction, match="call"):
        run(kernel, 1, 1)
