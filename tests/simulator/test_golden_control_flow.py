"""Stored PTX of paths that part and meet, of inline assembly, templates, printf and assert."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import fault, run
from tests.simulator.golden.stored import MOST, SIZES, VERSIONS, integers, kernel, poisoned, rows

pytestmark = pytest.mark.parametrize("version", VERSIONS)


def int32(v):
    return (v + 2**31) % 2**32 - 2**31


def check(version, name, x, expected, y=None):
    """y[i] = expected(x, i, y[i] before, n), in Python's integers."""
    for n in SIZES:
        got = poisoned(n, np.int32) if y is None else y[:n].copy()
        before = got.tolist()
        run(kernel(version, name), -(-n // 32), 32, x[:n].copy(), got, n)
        values = x[:n].tolist()
        np.testing.assert_array_equal(
            got, [int32(expected(values, i, before[i], n)) for i in range(n)]
        )


def test_early_returns(version):
    def expected(x, i, before, n):
        if x[i] < 0:
            return 0
        if x[i] < 10:
            return 1 + sum(range(x[i]))
        return -(1 + sum(range(10)))

    check(
        version,
        "control_flow/returns_early",
        np.random.default_rng(1).integers(-4, 14, MOST).astype(np.int32),
        expected,
    )


def test_switches_that_fall_through(version):
    def expected(x, i, before, n):
        table = {0: 111, 1: 110, 2: 100, 5: x[(i + 1) % n], 7: -8, 8: -8, 1000: 3}
        return table.get(x[i], 9999)

    x = np.random.default_rng(2).integers(-1, 10, MOST).astype(np.int32)
    x[::9] = 1000
    check(version, "control_flow/switches", x, expected)


def test_a_table_of_jumps(version):
    def expected(x, i, before, n):
        v = i + 3

        def summed(v):
            k = 0
            while k < v % 7:
                v += k * v
                k += 1
            return v

        work = [lambda: v * v, lambda: before - 7, lambda: v.bit_count(), lambda: ~v,
                lambda: v % 5, lambda: summed(v),
                lambda: int(f"{v:032b}"[::-1], 2), lambda: v << 4, lambda: x[i * 7 % n],
                lambda: -v]  # fmt: skip
        return work[x[i]]() if 0 <= x[i] < 10 else v

    x = np.random.default_rng(3).integers(-1, 11, MOST).astype(np.int32)
    check(version, "control_flow/a_table_of_jumps", x, expected, y=integers(np.int32, 4))


def nested(v):
    total, outer = 0, 0
    while True:
        inner = v % (outer + 3)
        while inner > 0:
            if inner == 5:
                break
            odd, inner = inner % 2, inner - 1
            if odd:
                continue
            total += inner * outer
        if total > 300:
            return total
        for k in range(outer, 6):
            stop = False
            for m in range(k, 6, 2):
                if k * m == v % 13:
                    stop = True
                    break
                total += k ^ m
            if stop:
                break
        outer += 1
        if outer >= v % 9:
            return -total


def test_loops_in_loops_with_jumps_out(version):
    x = np.random.default_rng(5).integers(0, 2000, MOST).astype(np.int32)
    check(version, "control_flow/loops_in_loops", x, lambda x, i, before, n: nested(x[i]))


def test_a_grid_stride_loop_of_ragged_loops(version):
    x, z = (np.random.default_rng(k).integers(0, 10_000, MOST).astype(np.int32) for k in (6, 7))
    for n in SIZES:
        y = poisoned(n, np.int32)
        run(
            kernel(version, "control_flow/greatest_common_divisors"),
            1,
            32,
            x[:n].copy(),
            z[:n].copy(),
            y,
            n,
        )
        np.testing.assert_array_equal(y, np.gcd(x, z)[:n])


def test_a_binary_search(version):
    ordered = np.unique(np.random.default_rng(8).integers(0, 500, 77).astype(np.int32))
    x = np.random.default_rng(9).integers(-5, 510, MOST).astype(np.int32)
    places = np.searchsorted(ordered, x)
    found = (places < len(ordered)) & (ordered[np.minimum(places, len(ordered) - 1)] == x)
    for n in SIZES:
        y = poisoned(n, np.int32)
        run(
            kernel(version, "control_flow/a_search"),
            -(-n // 32),
            32,
            ordered,
            x[:n].copy(),
            y,
            len(ordered),
            n,
        )
        np.testing.assert_array_equal(y, np.where(found, places, ~places)[:n])


@pytest.mark.parametrize("radius", [0, 3])
def test_windows_at_the_edges(version, radius):
    x = np.random.default_rng(10).integers(-3, 9, MOST).astype(np.float32)
    for n in SIZES:
        y = poisoned(n, np.float32)
        run(kernel(version, "control_flow/windows"), -(-n // 32), 32, x[:n].copy(), y, n, radius)
        near = [
            [v for v in x[max(0, i - radius) : min(n, i + radius + 1)] if v > 0] for i in range(n)
        ]
        np.testing.assert_array_equal(
            y, [np.float32(sum(w)) / np.float32(len(w)) if w else -1 for w in near]
        )


def steps_of_collatz(v):
    steps = 0
    while v > 1:
        v = 3 * v + 1 if v % 2 else v // 2
        steps += 1
    return steps


def test_scopes_of_inline_assembly(version):
    x = integers(np.uint32, 11)

    def expected(v):
        steps = steps_of_collatz(v % 50) + 100 * steps_of_collatz(v % 9)
        return [(v ^ 5) * 2 + v + 7, 1 if v > 100 else 2, v << 16 | v >> 16, steps]

    want = [[r % 2**32 for r in expected(v)] for v in x.tolist()]
    for n, y in rows(version, "inline_assembly/scopes", [x], np.uint32, 4):
        np.testing.assert_array_equal(y, np.array(want).T[:, :n])


def test_instructions_by_inline_assembly(version):
    x = integers(np.uint32, 12)

    def signed_field(v, begin, length):
        field = v >> begin & (1 << length) - 1
        if begin + length > 32:  # past the top, the sign bit again
            field |= (v >> 31) * ((1 << length) - (1 << max(0, 32 - begin)))
        return field - (1 << length) if field >> (length - 1) else field

    def results(v, w):
        u, byte = v >> 3, v >> 8 * (w & 3) & 255
        q = not v < w and v > 9
        return [v & w | v & u | w & u, v >> 5 & 511, signed_field(v, w & 31, 6),
                w & ~0xFF0 | (v & 255) << 4, v.bit_length() - 1, byte * 0x01010101,
                abs(v - w) + 100,
                v if not v >> 31 else w, -(v < w), 3 if q else 4, not v & 1,
                (v & 0xFFFFFF) * (w & 0xFFFFFF)]  # fmt: skip

    for n, y in rows(version, "inline_assembly/instructions", [x], np.uint32, 12):
        pairs = zip(x[:n].tolist(), x[:n][::-1].tolist(), strict=True)
        want = np.array([[int(r) % 2**32 for r in results(v, w)] for v, w in pairs]).T
        np.testing.assert_array_equal(y, want)


def test_special_registers(version):
    grid, block = (2, 3, 1), (5, 4, 3)
    y = poisoned((6, 60, 11), np.uint32)
    run(kernel(version, "inline_assembly/special_registers"), grid, block, y, shared_bytes=48)
    for b, t in np.ndindex(6, 60):
        lane = t % 32
        want = [
            lane,
            t // 32,
            (1 << lane) - 1,
            2**32 - (1 << lane),
            1 << lane,
            t // 5 % 4,
            3,
            b // 2,
            2,
            48,
            32,
        ]
        assert y[b, t].tolist() == want


def test_lambdas_functors_and_packs(version):
    x, z = (
        np.random.default_rng(13).integers(-9, 9, MOST).astype(np.float32),
        integers(np.int32, 14),
    )
    affine = np.array((2.5, -0.5), [("scale", "f4"), ("shift", "f4")])[()]
    for n in SIZES:
        i = np.arange(n)
        y = poisoned(n, np.float32)
        run(kernel(version, "templates_and_lambdas/affine"), 2, 16, x[:n].copy(), y, n, affine)
        np.testing.assert_array_equal(y, 2.5 * x[:n] - 0.5 * i)
        y = poisoned(n, np.float32)
        run(kernel(version, "templates_and_lambdas/captured"), 2, 16, x[:n].copy(), y, n, -3.0, 4.0)
        np.testing.assert_array_equal(y, np.clip(x[:n], -3, 4) + x[:n] ** 3 + i % 2)
        w = poisoned(n, np.int32)
        run(kernel(version, "templates_and_lambdas/packs"), 2, 16, z[:n].copy(), w, n)
        want = [int32(3 * int(v) + 4 * k + 40) for k, v in enumerate(z[:n])]
        np.testing.assert_array_equal(w, want)


@pytest.mark.parametrize("side", [1, 16, 17, 40])
def test_a_transpose_through_a_padded_tile(version, side):
    x, y = (
        np.arange(side * side, dtype=np.int32).reshape(side, side),
        poisoned((side, side), np.int32),
    )
    tiles = -(-side // 16)
    run(kernel(version, "templates_and_lambdas/transposed"), (tiles, tiles), (16, 16), x, y, side)
    np.testing.assert_array_equal(y, x.T)


def test_printf(version):
    x = np.arange(33, dtype=np.int32)
    x[[1, 32]] = [-5, -6]
    printed = run(kernel(version, "printing/prints"), 2, 32, x, 33).output
    lines = [f"x[{i}] = {x[i]} is negative" for i in (1, 32)]
    lines += [
        f"block {x[i] * 0.5:5.2f}|7   |{x[i]:04x}|{chr(ord('a') + i)}|{1 << 40}|{0.25:e}%"
        for i in (3, 19)
    ]
    assert sorted(printed.splitlines()) == sorted(lines)


def test_assert_and_trap_name_the_thread(version):
    asserts, traps = kernel(version, "printing/asserts"), kernel(version, "printing/traps")
    for n in SIZES:
        y = poisoned(n, np.int32)
        run(asserts, -(-n // 32), 32, np.arange(n, dtype=np.int32), y, n)
        np.testing.assert_array_equal(y, np.arange(n) + 1)
    x = np.array([3, 2, -1, 5], np.int32)
    found = fault(asserts, 1, 4, x, poisoned(4, np.int32), 4)
    assert (found.kind, found.thread, found.line) == (
        FaultKind.ASSERTION,
        (2, 0, 0),
        asserts.line("assert(x[i]"),
    )
    assert "no negative numbers" in found.what
    found = fault(traps, 1, 4, np.array([1, 13, 2, 3], np.int32), poisoned(4, np.int32))
    assert (found.kind, found.thread, found.line) == (
        FaultKind.TRAP,
        (1, 0, 0),
        traps.line("__trap()"),
    )
