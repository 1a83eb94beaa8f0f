"""Triton launches go the road of CUDA's: profiles, faults, orders, poison, unmodified inputs."""

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401
from harness.judging.guards import unmodified
from harness.judging.mismatch import Mismatch
from harness.judging.poison import is_poisoned
from harness.launching import launch_settings
from simulator import KernelFault

pytestmark = pytest.mark.simulated

N, BLOCK = 1000, 256
GRID = (triton.cdiv(N, BLOCK),)


@triton.jit
def axpy(x, y, out, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.load(x + i, mask=i < n)
    v = tl.load(y + i, mask=i < n)
    tl.store(out + i, a * u + v, mask=i < n)


@triton.jit
def without_mask(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


def test_a_profile_counts_by_kernel_by_line_and_by_tensor(profile):
    n = 992  # a multiple of 16: loads of 16 bytes
    x, y, out = torch.randn(3, n).unbind()
    launches = profile(lambda: axpy[GRID](x, y, out, 2.0, n, BLOCK=BLOCK))
    assert launches.kernels == ("axpy",)
    counted = launches["axpy"]
    assert counted.grid == (4, 1, 1) and counted.block == (128, 1, 1)
    assert counted.source.samefile(__file__)
    sectors = 4 * n // 32
    assert counted.counters.global_load_sectors == 2 * sectors
    assert counted.line("u = tl.load").global_load_sectors == sectors
    assert counted.line("tl.store(out + i, a *").global_store_sectors == sectors
    assert counted.buffers["x"].bytes_read == counted.buffers["out"].bytes_written == 4 * n
    assert counted.buffers["y"].bytes_written == 0


def test_a_tensors_extent_is_its_bound_though_its_storage_goes_on():
    x, out = torch.zeros(2, 2 * N)
    with pytest.raises(KernelFault, match=rf"reads x\[{N}\]; x has {N} elements"):
        without_mask[GRID](x[:N], torch.empty(4 * BLOCK), BLOCK=BLOCK)
    with pytest.raises(KernelFault, match=rf"writes out\[{N}\]; out has {N} elements"):
        without_mask[GRID](x, out.clone()[:N], BLOCK=BLOCK)


def test_a_strided_views_bound_is_its_last_element():
    x = torch.zeros(100, 3)

    @triton.jit
    def column(x, out, stride, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i * stride))

    column[(1,)](x[:64, 1], torch.empty(64), 3, BLOCK=64)
    with pytest.raises(KernelFault, match="reads x"):
        column[(1,)](x[:63, 1], torch.empty(64), 3, BLOCK=64)


def test_faults_that_hardware_lets_slip_can_be_switched_off():
    @triton.jit
    def lost_update(total):
        tl.store(total, tl.load(total) + 1)

    total = torch.zeros(1)
    with pytest.raises(KernelFault, match="race"):
        lost_update[(8,)](total)
    with launch_settings.changed(faults=False):
        lost_update[(8,)](total)


@triton.jit
def who_was_last(out, BLOCK: tl.constexpr):
    tl.atomic_xchg(out, tl.program_id(0))


def test_programs_run_in_the_order_that_is_asked_for():
    found = {}
    for order in ("forward", "reversed"):
        out = torch.full((1,), -1, dtype=torch.int32)
        with launch_settings.changed(order=order):
            who_was_last[(10,)](out, BLOCK=32)
        found[order] = out.item()
    assert found == {"forward": 9, "reversed": 0}


@triton.jit
def roots(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.rsqrt(tl.load(x + i)))


def test_approximate_functions_can_be_perturbed():
    x, exact, moved = torch.rand(3, 256).add(0.5).unbind()
    roots[(1,)](x, exact, BLOCK=256)
    with launch_settings.changed(perturb=True):
        roots[(1,)](x, moved, BLOCK=256)
    assert not torch.equal(exact, moved)
    assert torch.allclose(exact, moved, rtol=1e-6)


def test_chosen_blocks_can_run_alone():
    x, out = torch.ones(4 * BLOCK), torch.zeros(4 * BLOCK)
    with launch_settings.changed(blocks=[2]):
        without_mask[(4,)](x, out, BLOCK=BLOCK)
    assert out.view(4, BLOCK).sum(1).tolist() == [0, 0, BLOCK, 0]


def test_a_plain_store_that_another_program_waits_for_stays_hidden_without_a_fence():
    @triton.jit
    def hand_over(data, flag, out):
        if tl.program_id(0) == 0:
            tl.store(data, 7)
            tl.atomic_xchg(flag, 1, sem="relaxed")
        else:
            while tl.atomic_cas(flag, 1, 1, sem="relaxed") != 1:
                pass
            tl.store(out, tl.load(data, volatile=True))

    data, flag, out = torch.zeros(3, dtype=torch.int32).split(1)
    with launch_settings.changed(faults=False, weak_stores=True):
        hand_over[(2,)](data, flag, out)
    assert out.item() == 0


def test_what_a_kernel_leaves_unwritten_is_still_poison():
    x, out = torch.ones(N), torch.empty(N)
    axpy[(2,)](x, x, out, 2.0, N, BLOCK=BLOCK)
    assert torch.equal(is_poisoned(out), torch.arange(N) >= 2 * BLOCK)


def test_an_input_that_a_kernel_writes_is_reported():
    x, y = torch.ones(2, N).unbind()
    with pytest.raises(Mismatch), unmodified(x, y):
        axpy[GRID](x, y, x, 2.0, N, BLOCK=BLOCK)


@triton.jit
def add_to_each(table, sizes, amount, BLOCK: tl.constexpr):
    which = tl.program_id(0)
    x = tl.load(table + which).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    inside = i < tl.load(sizes + which)
    tl.store(x + i, tl.load(x + i, mask=inside) + amount, mask=inside)


def table_of(tensors):
    addresses = torch.tensor([t.data_ptr() for t in tensors])
    return addresses, torch.tensor([t.numel() for t in tensors], dtype=torch.int32)


def test_a_table_of_addresses_leads_to_the_tensors():
    tensors = [torch.zeros(size) for size in (100, 1, 0, 256, 7)]
    table, sizes = table_of(tensors)
    before = table.clone()
    add_to_each[(5,)](table, sizes, 3.0, BLOCK=256)
    assert all((t == 3).all() for t in tensors)
    assert torch.equal(table, before)


def test_a_tensor_in_a_table_has_its_own_bounds():
    whole = torch.zeros(300)
    parts = [torch.zeros(10), whole[100:200], torch.zeros(10)]
    table, sizes = table_of(parts)
    sizes[1] = 101
    with pytest.raises(KernelFault, match=r"table\[1\]\[100\]; table\[1\] has 100 elements"):
        add_to_each[(3,)](table, sizes, 3.0, BLOCK=128)
    assert table.tolist() == [part.data_ptr() for part in parts]


def test_tables_name_parameters_and_gradients_too():
    model = torch.nn.Linear(8, 4)
    model(torch.ones(8)).sum().backward()
    table, sizes = table_of([model.weight.grad, model.bias])
    bias, gradient = model.bias.detach().clone(), model.weight.grad.clone()
    add_to_each[(2,)](table, sizes, 1.0, BLOCK=32)
    assert torch.equal(model.weight.grad, gradient + 1) and torch.equal(model.bias, bias + 1)


def test_an_address_of_no_tensor_is_a_fault():
    table = torch.tensor([torch.zeros(1).data_ptr() | 1 << 45])
    with pytest.raises(KernelFault, match="out of bounds|wild"):
        add_to_each[(1,)](table, torch.tensor([1], dtype=torch.int32), 1.0, BLOCK=32)
