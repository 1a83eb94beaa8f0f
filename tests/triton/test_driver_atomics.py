"""Triton's atomics on the simulator, of every dtype that it offers them for."""

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401
from simulator import KernelFault

pytestmark = pytest.mark.simulated

N = 1000
BLOCK = 256
INTEGERS = [torch.int32, torch.int64, torch.uint32, torch.uint64]
ADDED = [torch.float16, torch.bfloat16, torch.float32, torch.float64, *INTEGERS]


@triton.jit
def add_atomically(x, sums, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(sums + i % 4, tl.load(x + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize("dtype", ADDED)
def test_atomic_add_adds_every_element(dtype):
    x = torch.arange(N).remainder(3)  # few enough that every dtype holds the sums exactly
    x[20:] *= torch.arange(N - 20) % 16 == 0
    x = x.to(dtype)
    sums = torch.zeros(4, dtype=dtype)
    add_atomically[(triton.cdiv(N, BLOCK),)](x, sums, N, BLOCK=BLOCK)
    want = torch.stack([x[k::4].double().sum() for k in range(4)])
    assert torch.equal(sums.double(), want)


@triton.jit
def add_one(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(x + i, tl.full((BLOCK,), 1, x.dtype.element_ty), mask=i < n)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_an_atomic_add_to_the_last_of_an_odd_number_of_halves_is_inside(dtype):
    whole = torch.zeros(8, dtype=dtype)
    x = whole[1:6]  # both its ends lie in the middle of a word
    add_one[(1,)](x, 5, BLOCK=8)
    assert whole.tolist() == [0, 1, 1, 1, 1, 1, 0, 0]
    with pytest.raises(KernelFault, match=r"x\[5\]; x has 5 elements"):
        add_one[(1,)](x, 6, BLOCK=8)


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


def test_a_plain_access_beyond_an_odd_number_of_halves_is_outside():
    x, y = torch.zeros(5).half(), torch.zeros(8).half()
    with pytest.raises(KernelFault, match=r"reads x\[5\]; x has 5 elements"):
        copy[(1,)](x, y, 6, BLOCK=8)
    with pytest.raises(KernelFault, match=r"writes y\[5\]; y has 5 elements"):
        copy[(1,)](y, x, 6, BLOCK=8)


@triton.jit
def update_atomically(
    x, largest, smallest, conjunction, disjunction, parity, last, n, B: tl.constexpr
):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    same = tl.zeros_like(i)
    v = tl.load(x + i, mask=inside)
    tl.atomic_max(largest + same, v, mask=inside)
    tl.atomic_min(smallest + same, v, mask=inside)
    tl.atomic_and(conjunction + same, v, mask=inside)
    tl.atomic_or(disjunction + same, v, mask=inside)
    tl.atomic_xor(parity + same, v, mask=inside)
    tl.atomic_xchg(last + same, v, mask=inside)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_atomics_of_integers(dtype):
    values = [k * 7919 % 1024 + 1024 for k in range(N)]
    if not dtype.is_signed:
        values = [v + 2 ** (8 * dtype.itemsize - 1) for v in values]  # negative if misread
    x = torch.tensor(values, dtype=dtype)
    ones = torch.iinfo(dtype).max if not dtype.is_signed else -1
    found = torch.tensor([0, torch.iinfo(dtype).max, ones, 0, 0, 0], dtype=dtype)
    update_atomically[(triton.cdiv(N, BLOCK),)](x, *found.split(1), N, B=BLOCK)
    conjunction, disjunction, parity = ones, 0, 0
    for value in x.tolist():
        conjunction, disjunction, parity = (
            conjunction & value,
            disjunction | value,
            parity ^ value,
        )
    *fixed, last = found.tolist()
    assert fixed == [max(x.tolist()), min(x.tolist()), conjunction, disjunction, parity]
    assert last in x.tolist()


@triton.jit
def extremes(x, largest, smallest, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.atomic_max(largest + i * 0, v, mask=i < n)
    tl.atomic_min(smallest + i * 0, v, mask=i < n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_atomic_extremes_of_floats_of_both_signs(dtype):
    x = torch.linspace(-3, 5, N, dtype=dtype)
    largest, smallest = torch.full((1,), -9.0, dtype=dtype), torch.full((1,), 9.0, dtype=dtype)
    extremes[(triton.cdiv(N, BLOCK),)](x, largest, smallest, N, B=BLOCK)
    assert (largest.item(), smallest.item()) == (x.max().item(), x.min().item())


@triton.jit
def compare_and_swap(lock, seen):
    mine = (tl.program_id(0) + 1).to(lock.dtype.element_ty)
    old = tl.atomic_cas(lock, tl.full((), 0, lock.dtype.element_ty), mine)
    tl.store(seen + tl.program_id(0), old)


@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64, torch.uint32])
def test_only_one_program_takes_a_lock(dtype):
    lock, seen = torch.zeros(1, dtype=dtype), torch.empty(50, dtype=dtype)
    compare_and_swap[(50,)](lock, seen)
    assert (seen == 0).sum() == 1
    assert lock.item() == seen.tolist().index(0) + 1


@triton.jit
def turn_by_turn(ticket, total, SEM: tl.constexpr, SCOPE: tl.constexpr):
    while tl.atomic_add(ticket, 0, sem=SEM, scope=SCOPE) != tl.program_id(0):
        pass
    tl.store(total, tl.load(total, volatile=True) * 2 + tl.program_id(0))
    tl.debug_barrier()
    tl.atomic_add(ticket, 1, sem=SEM, scope=SCOPE)


@pytest.mark.parametrize("scope", ["gpu", "sys"])
def test_programs_that_hand_over_by_acquire_and_release_see_each_others_stores(scope):
    ticket, total = torch.zeros(2, dtype=torch.int32).split(1)
    turn_by_turn[(10,)](ticket, total, "acq_rel", scope, num_warps=1)
    want = 0
    for program in range(10):
        want = want * 2 + program
    assert total.item() == want
