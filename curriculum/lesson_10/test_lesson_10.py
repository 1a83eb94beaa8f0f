"""Lesson 10, tasks 1 and 2: what a kernel must move and compute, and the least time it takes."""

from dataclasses import replace
from math import inf
from random import Random

import pytest
import torch

from curriculum.lesson_10 import accountant, host
from harness.judging.data import spread
from harness.judging.returned import number
from references.fused import bias_gelu_add
from references.hardware import MEASURED_H200
from references.roofline import (
    A100_DATASHEET,
    H100_DATASHEET,
    H100_PCIE_DATASHEET,
    H200_DATASHEET,
    H200_MEASURED,
    Hardware,
    Kernel,
)

# Round numbers: 100 bytes and 1000 FLOPs a second, 3 seconds a launch.
TOY = Hardware("a toy", 100.0, {"fp32": 1000.0, "bf16": 8000.0}, 3.0, 10**6, 2)


def checked_kernel(call, got, bytes_, flops, dtype):
    if not isinstance(got, Kernel):
        pytest.fail(f"{call} returned {got!r}, which is no Kernel", pytrace=False)
    assert got.bytes == bytes_, f"{call}: {got.bytes} bytes, not {bytes_}"
    assert got.flops == flops, f"{call}: {got.flops} FLOPs, not {flops}"
    assert got.dtype == dtype, f"{call} computes in {got.dtype!r}, not {dtype!r}"
    assert got.launches == 1, f"{call}: {got.launches} launches, not 1"


def near(call, got, wanted):
    assert number(call, got) == pytest.approx(wanted, rel=1e-9), f"{call} is {got}, not {wanted}"


# --- Task 1: ridge, intensity, two kinds of kernel ------------------------------------------------


@pytest.mark.task(1)
@pytest.mark.parametrize(
    "hardware, dtype, wanted",
    [
        (H100_DATASHEET, "bf16", 295.3),
        (H200_DATASHEET, "bf16", 206.1),
        (A100_DATASHEET, "bf16", 153.0),
        (H100_PCIE_DATASHEET, "bf16", 378.0),
        (H200_DATASHEET, "fp8", 412.3),
        (H200_DATASHEET, "fp32", 13.96),
        (H200_MEASURED, "bf16", 168.9),
        (TOY, "fp32", 10.0),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_ridge_is_where_both_limits_meet(hardware, dtype, wanted):
    call = f"ridge({hardware.name}, {dtype!r})"
    got = number(call, accountant.ridge(hardware, dtype))
    assert got == pytest.approx(wanted, rel=1e-3), f"{call} is {got:.4g}, not {wanted}"


@pytest.mark.task(1)
@pytest.mark.parametrize(
    "bytes_, flops, wanted", [(4, 8, 2.0), (8, 4, 0.5), (7, 0, 0.0), (0, 5, inf), (0, 0, 0.0)]
)
def test_intensity_is_flops_for_each_byte(bytes_, flops, wanted):
    call = f"intensity of {bytes_} bytes and {flops} FLOPs"
    got = number(call, accountant.intensity(Kernel("any", bytes_, flops)))
    assert got == wanted, f"{call} is {got}, not {wanted}"


@pytest.mark.task(1)
@pytest.mark.parametrize(
    "n, reads, writes, flops, dtype_bytes, moved",
    [
        (1, 1, 1, 1, 4, 8),
        (1000, 2, 1, 1, 4, 12_000),  # an addition
        (1000, 2, 1, 1, 2, 6000),
        (1 << 20, 1, 0, 1, 4, 1 << 22),  # a sum, nearly
        (3, 0, 1, 0, 4, 12),  # a fill
        (0, 1, 1, 1, 4, 0),
    ],
)
def test_elementwise_work_grows_with_its_elements(n, reads, writes, flops, dtype_bytes, moved):
    got = accountant.elementwise(n, reads, writes, flops, dtype_bytes)
    call = f"elementwise({n}, {reads}, {writes}, {flops}, {dtype_bytes})"
    checked_kernel(call, got, moved, n * flops, "fp32")


@pytest.mark.task(1)
@pytest.mark.parametrize(
    "m, n, k, dtype_bytes, moved, flops",
    [
        (1, 1, 1, 4, 12, 2),
        (2, 3, 5, 4, 4 * (10 + 15 + 6), 60),
        (1, 4096, 4096, 2, 33_570_816, 33_554_432),  # one token through a square matrix
        (4096, 4096, 4096, 4, 201_326_592, 137_438_953_472),  # lesson 05's 0.20 GB
    ],
)
def test_a_gemm_moves_three_matrices(m, n, k, dtype_bytes, moved, flops):
    got = accountant.gemm(m, n, k, dtype_bytes)
    checked_kernel(f"gemm({m}, {n}, {k}, {dtype_bytes})", got, moved, flops, "bf16")
    got = accountant.gemm(m, n, k, dtype_bytes, "fp32")
    checked_kernel(f"gemm({m}, {n}, {k}, {dtype_bytes}, 'fp32')", got, moved, flops, "fp32")


@pytest.mark.task(1)
@pytest.mark.parametrize("tokens", [1, 16, 128, 206])
def test_few_tokens_times_a_large_matrix_have_the_intensity_of_their_number(tokens):
    kernel = accountant.gemm(tokens, 65_536, 65_536, 2)
    got = number("intensity of a gemm", accountant.intensity(kernel))
    said = f"{tokens} tokens through a bf16 matrix of 65,536 × 65,536: {got:.4g} FLOPs a byte"
    assert got == pytest.approx(tokens, rel=0.01), f"{said}, not {tokens}"


# --- Task 2: the least time, and what sets it -----------------------------------------------------


TIMES = [  # bytes, FLOPs, launches, seconds, what sets them
    (1000, 1000, 1, 13.0, "memory"),  # 10 s of moving hide 1 s of computing
    (100, 9000, 1, 12.0, "compute"),
    (100, 0, 1, 4.0, "launch"),
    (900, 0, 3, 18.0, "memory"),  # 9 s against 9: no longer
    (890, 0, 3, 17.9, "launch"),
    (500, 5000, 1, 8.0, "memory"),  # both take 5 s
    (200, 2000, 1, 5.0, "launch"),  # 3 s against 2 and 2, which go on at the same time
    (0, 0, 2, 6.0, "launch"),
    (1000, 0, 0, 10.0, "memory"),  # replayed by something that launches for it
    (0, 7000, 0, 7.0, "compute"),
]


@pytest.mark.task(2)
@pytest.mark.parametrize("bytes_, flops, launches, seconds, _", TIMES)
def test_moving_hides_computing_and_launches_come_on_top(bytes_, flops, launches, seconds, _):
    kernel = Kernel("any", bytes_, flops, "fp32", launches)
    call = f"100 bytes and 1000 FLOPs a second, 3 s a launch; {bytes_} bytes, {flops} FLOPs, "
    call += f"{launches} launches: roofline_time"
    near(call, accountant.roofline_time(kernel, TOY), seconds)


@pytest.mark.task(2)
@pytest.mark.parametrize("bytes_, flops, launches, _, wanted", TIMES)
def test_the_longest_of_three_times_is_the_bound(bytes_, flops, launches, _, wanted):
    got = accountant.bound(Kernel("any", bytes_, flops, "fp32", launches), TOY)
    times = f"moving {bytes_ / 100:g} s, computing {flops / 1000:g} s, launches {3 * launches} s"
    assert got == wanted, f"{times}: the bound is {got!r}, not {wanted!r}"


@pytest.mark.task(2)
def test_the_dtype_chooses_the_arithmetic():
    kernel = Kernel("any", 100, 16_000, "bf16")
    near("16,000 FLOPs at 8000 a second, roofline_time", accountant.roofline_time(kernel, TOY), 5.0)
    got = accountant.bound(kernel, replace(TOY, launch_seconds=0.1))
    assert got == "compute", f"2 s of bf16 arithmetic, 1 s of moving: {got!r}"


@pytest.mark.task(2)
def test_more_work_takes_no_less_and_a_better_gpu_no_more():
    random = Random(10)
    for _ in range(300):
        kernel = Kernel("any", random.randrange(10**6), random.randrange(10**7), "fp32", 1)
        least = accountant.roofline_time(kernel, TOY)
        for more in (
            replace(kernel, bytes=kernel.bytes + 100),
            replace(kernel, flops=kernel.flops + 1000),
            replace(kernel, launches=2),
        ):
            longer = accountant.roofline_time(more, TOY)
            assert longer >= least, f"{more} takes {longer} s, and {kernel} {least}"
        better = replace(TOY, bytes_per_second=200.0)
        shorter = accountant.roofline_time(kernel, better)
        assert shorter <= least, f"{kernel}: {shorter} s with twice the bandwidth, {least} without"


@pytest.mark.task(2)
def test_a_gemm_changes_its_bound_at_the_ridge():
    free = replace(H200_DATASHEET, launch_seconds=0.0)
    bounds = {m: accountant.bound(accountant.gemm(m, 65_536, 65_536, 2), free) for m in (200, 215)}
    said = "bf16 on an H200, ridge 206, a matrix of 65,536 × 65,536"
    assert bounds == {200: "memory", 215: "compute"}, f"{said}; by tokens the bound is {bounds}"


@pytest.mark.task(2)
def test_what_an_h200_did_is_never_faster_than_the_account():
    """cuBLAS at 4096 cubed, fp32 and bf16, and a copy: h200.md's medians, in Measured."""
    free = replace(H200_DATASHEET, launch_seconds=0.0)
    flops = 2 * 4096**3
    took = {
        "fp32": flops / (MEASURED_H200.fp32_teraflops * 1e12),
        "bf16": flops / (MEASURED_H200.bf16_teraflops * 1e12),
    }
    for dtype, size in (("fp32", 4), ("bf16", 2)):
        least = accountant.roofline_time(accountant.gemm(4096, 4096, 4096, size, dtype), free)
        share = least / took[dtype]
        said = f"4096³ in {dtype}: recorded {took[dtype] * 1e6:.0f} µs, account {least * 1e6:.0f}"
        assert 0.6 <= share <= 1.0, f"{said}: {share:.2f} of what was recorded"
    copy = accountant.elementwise(1 << 28, 1, 1, 0, 4)
    recorded = copy.bytes / (MEASURED_H200.copy_gigabytes_per_second * 1e9)
    share = accountant.roofline_time(copy, free) / recorded
    assert 0.8 <= share <= 1.0, f"a copy of 1 GiB: the account says {share:.2f} of what it took"


@pytest.mark.task(2)
@pytest.mark.simulated
def test_your_kernels_ask_for_no_less(rng, profile):
    """The kernels of lessons 03 to 07 as they are in your folders; see the table with -s."""
    from curriculum.lesson_03.host import vec_add
    from curriculum.lesson_05.host import matmul_naive, matmul_tiled, transpose_tiled
    from curriculum.lesson_07.host import softmax_row

    n = 1 << 16
    long, square, rows = (spread(*shape, rng=rng) for shape in ((n,), (128, 128), (64, 1000)))
    bias = spread(128, rng=rng)
    moved = accountant.elementwise(128 * 128, 1, 1, 0, 4)
    product = accountant.gemm(128, 128, 128, 4, "fp32")
    table = []
    for name, call, wanted, kernel in (
        ("unfused", lambda: host.unfused(square, bias, square),
         bias_gelu_add(square, bias, square), accountant.elementwise(128 * 128, 4, 3, 1, 4)),
        ("vec_add", lambda: vec_add(long, long), 2 * long, accountant.elementwise(n, 2, 1, 1, 4)),
        ("transpose_tiled", lambda: transpose_tiled(square), square.t(), moved),
        ("softmax_row", lambda: softmax_row(rows), rows.softmax(1),
         accountant.elementwise(64_000, 1, 1, 4, 4)),
        ("matmul_tiled", lambda: matmul_tiled(square, square), square @ square, product),
        ("matmul_naive", lambda: matmul_naive(square, square), square @ square, product),
    ):  # fmt: skip
        try:
            launches = profile(call)
        except NotImplementedError:  # a lesson that was left out
            continue
        if not torch.allclose(launches.result, wanted, rtol=1e-3, atol=1e-3):
            continue
        counters = launches.counters
        requested = counters.global_load_bytes + counters.global_store_bytes
        table.append((name, kernel.bytes, requested))
    shown = [f"  {name:16} {few:>9} {asked:>11} {asked / few:8.1f}" for name, few, asked in table]
    said = "\n".join(["kernel, fewest bytes by the accountant, bytes requested at L1", *shown])
    print(said)
    assert all(asked >= 0.99 * few for _, few, asked in table), f"less than the fewest?\n{said}"
