"""Every atomic operation under contention: the final values, and the old ones in lane order."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run

TYPES = {
    "int": np.int32,
    "unsigned": np.uint32,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
THREADS, BINS = 96, 5


def kernel(type_, call, wanted, shared=False):
    bins = f"__shared__ {type_} bins[8];" if shared else ""
    return compiled(
        f"""extern "C" __global__ void update({type_}* memory, const {type_}* x, {type_}* old)
{{
    {bins}
    int t = threadIdx.x;
    {"if (t < 8) bins[t] = memory[t]; __syncthreads();" if shared else ""}
    {type_}* to = {"bins" if shared else "memory"} + t % {BINS};
    {"old[t] =" if wanted else ""} {call};
    {"__syncthreads(); if (t < 8) memory[t] = bins[t];" if shared else ""}
}}"""
    )


def in_turn(step, memory, x, dtype):
    """(final memory, old values) with lanes one after another."""
    memory, old = memory.copy(), np.zeros(len(x), dtype)
    with np.errstate(over="ignore"):
        for t, value in enumerate(x):
            old[t] = memory[t % BINS]
            memory[t % BINS] = step(memory[t % BINS], value)
    return memory, old


# name -> (call, what one update does, types)
INTEGERS = ("int", "unsigned", "unsigned long long")
OPERATIONS = {
    "add": ("atomicAdd(to, x[t])", lambda m, v: m + v, tuple(TYPES)),
    "subtract": ("atomicSub(to, x[t])", lambda m, v: m - v, ("int", "unsigned")),
    "minimum": ("atomicMin(to, x[t])", min, INTEGERS),
    "maximum": ("atomicMax(to, x[t])", max, INTEGERS),
    "and": ("atomicAnd(to, x[t])", lambda m, v: m & v, INTEGERS),
    "or": ("atomicOr(to, x[t])", lambda m, v: m | v, INTEGERS),
    "xor": ("atomicXor(to, x[t])", lambda m, v: m ^ v, INTEGERS),
    "exchange": ("atomicExch(to, x[t])", lambda m, v: v, (*INTEGERS, "float")),
    "increment": (
        "atomicInc(to, x[t] % 7)",
        lambda m, v: 0 if m >= v % 7 else m + 1,
        ("unsigned",),
    ),
    "decrement": (
        "atomicDec(to, x[t] % 7)",
        lambda m, v: v % 7 if m == 0 or m > v % 7 else m - 1,
        ("unsigned",),
    ),
    "compare and swap": (
        "atomicCAS(to, x[t] & 3, x[t] & 7)",
        lambda m, v: v & 7 if m == v & 3 else m,
        INTEGERS,
    ),
}
CASES = [(name, type_) for name, (_, _, types) in OPERATIONS.items() for type_ in types]


@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
@pytest.mark.parametrize("wanted", [False, True], ids=["red", "atom"])
@pytest.mark.parametrize(("name", "type_"), CASES)
def test_lanes_take_turns(name, type_, wanted, shared):
    call, step, _ = OPERATIONS[name]
    dtype = np.dtype(TYPES[type_])
    random = np.random.default_rng(3)
    if dtype.kind == "f":
        x, memory = random.integers(-8, 8, THREADS).astype(dtype), np.arange(8).astype(dtype)
    else:
        info = np.iinfo(dtype)
        x = random.integers(info.min, info.max, THREADS, dtype, endpoint=True)
        memory = random.integers(0, 8, 8).astype(dtype)
    final, before = in_turn(step, memory, x, dtype)
    old = np.zeros(THREADS, dtype)
    run(kernel(type_, call, wanted, shared), 1, THREADS, memory, x, old)
    np.testing.assert_array_equal(memory, final)
    if wanted:
        np.testing.assert_array_equal(old, before)  # the simulator's order is that of the lanes


def test_old_values_of_a_counter_are_a_permutation():
    source = """extern "C" __global__ void append(int* count, int* list, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 3 == 0) list[atomicAdd(count, 1)] = i;
}"""
    count, items = np.zeros(1, np.int32), np.full(400, -1, np.int32)
    run(compiled(source), 8, 128, count, items, 1000)
    assert count[0] == 334
    assert sorted(items[:334]) == list(range(0, 1000, 3))
    assert (items[334:] == -1).all()


@pytest.mark.parametrize("name", ["minimum", "compare and swap", "exchange", "xor", "decrement"])
def test_a_thousand_lanes_that_each_change_one_address(name):
    call, step, _ = OPERATIONS[name]
    x = np.arange(1024, 0, -1).astype(np.uint32)
    memory, old = np.full(8, 5000, np.uint32), np.zeros(1024, np.uint32)
    final, before = in_turn(step, memory, x, np.uint32)
    run(kernel("unsigned", call, True), 1, 1024, memory, x, old)
    np.testing.assert_array_equal(memory, final)
    np.testing.assert_array_equal(old, before)


def test_a_histogram_of_a_million_lanes():
    source = """extern "C" __global__ void histogram(const unsigned char* x, int* bins, int n)
{
    __shared__ int mine[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[x[i]], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        if (mine[k]) atomicAdd(&bins[k], mine[k]);
}"""
    x = np.random.default_rng(0).integers(0, 256, 1 << 20).astype(np.uint8)
    bins = np.zeros(256, np.int32)
    run(compiled(source), 64, 256, x, bins, len(x))
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=256))


def test_a_float_maximum_by_compare_and_swap():
    source = """extern "C" __global__ void maximum(const float* x, float* most, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int* address = (int*)most;
    int seen = *address, assumed;
    do {
        assumed = seen;
        if (__int_as_float(assumed) >= x[i]) break;
        seen = atomicCAS(address, assumed, __float_as_int(x[i]));
    } while (seen != assumed);
}"""
    x = np.random.default_rng(5).normal(size=1000).astype(np.float32)
    most = np.full(1, -np.inf, np.float32)
    run(compiled(source), 8, 128, x, most, 1000)
    assert most[0] == x.max()


def test_a_block_scoped_atomic_is_an_atomic():
    source = """extern "C" __global__ void count(int* total)
{
    atomicAdd_block(&total[blockIdx.x], 2);
    atomicAdd_system(&total[blockIdx.x], 1);
}"""
    total = np.zeros(2, np.int32)
    run(compiled(source), 2, 33, total)
    assert total.tolist() == [33 * 3] * 2


@pytest.mark.parametrize("wanted", [False, True])
def test_halves_add_alone_and_in_pairs(wanted):
    kept = "old[t] =" if wanted else ""
    source = f"""#include <cuda_fp16.h>
extern "C" __global__ void halves(__half2* pairs, __half* one, __half2* old)
{{
    int t = threadIdx.x;
    {kept} atomicAdd(pairs + t % 3, __floats2half2_rn(t, 1.0f));
    atomicAdd(one, __float2half(0.5f));
}}"""
    pairs, one = np.zeros((3, 2), np.float16), np.zeros(2, np.float16)
    old = np.zeros((40, 2), np.float16)
    run(compiled(source), 1, 40, pairs, one, old)
    assert pairs.tolist() == [[sum(range(k, 40, 3)), len(range(k, 40, 3))] for k in range(3)]
    assert one[0] == 20
    if wanted:
        assert sorted(old[0::3, 1]) == list(range(14))


SUBNORMAL = np.float32(1e-40)


def test_adding_floats_in_global_memory_flushes_subnormal_numbers():
    """PTX says so of atom.add.f32 and red.add.f32: operands and results, and not the old value."""
    source = kernel("float", "atomicAdd(to, x[t])", wanted=False)
    x = np.zeros(THREADS, np.float32)
    x[:4] = SUBNORMAL, -1.2e-38, -SUBNORMAL, 2
    memory = np.array([0, 1.5e-38, 3, SUBNORMAL, SUBNORMAL, 0, 0, 0], np.float32)
    run(source, 1, THREADS, memory, x, np.zeros(THREADS, np.float32))
    assert memory[:5].tolist() == [0, 0, 3, 2, 0]


def test_adding_floats_in_shared_memory_keeps_subnormal_numbers():
    source = kernel("float", "atomicAdd(to, x[t])", wanted=False, shared=True)
    x = np.zeros(THREADS, np.float32)
    x[:2] = SUBNORMAL
    memory = np.zeros(8, np.float32)
    run(source, 1, THREADS, memory, x, np.zeros(THREADS, np.float32))
    assert memory[:3].tolist() == [SUBNORMAL, SUBNORMAL, 0]


@pytest.mark.parametrize("wanted", [False, True])
def test_sums_that_pass_through_subnormal_ones_lose_them_on_the_way(wanted):
    source = kernel("float", "atomicAdd(to, x[t])", wanted)
    x = np.zeros(THREADS, np.float32)
    x[[0, 5, 10]] = 1.3e-38, -1.2e-38, 1.2e-38  # 1e-39 in between, which becomes zero
    memory, old = np.zeros(8, np.float32), np.zeros(THREADS, np.float32)
    run(source, 1, THREADS, memory, x, old)
    assert memory[0] == np.float32(1.2e-38)
    if wanted:
        assert old[[0, 5, 10, 15]].tolist() == [0, np.float32(1.3e-38), 0, np.float32(1.2e-38)]
