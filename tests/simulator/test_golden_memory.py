"""Stored PTX of every kind of memory access moves the bytes that it names."""

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import (
    MOST,
    SIZES,
    VERSIONS,
    fresh,
    integers,
    kernel,
    poisoned,
    rows,
)

pytestmark = pytest.mark.parametrize("version", VERSIONS)


def launched(version, name, n, *arguments, block=32):
    run(kernel(version, name), -(-n // block), block, *arguments, n)


def test_a_local_array_that_is_sorted(version):
    for n in SIZES:
        x = integers(np.int32, 1, 12 * n).reshape(n, 12)
        y = poisoned((n, 12), np.int32)
        launched(version, "local_memory/insertion_sort", n, x.copy(), y)
        np.testing.assert_array_equal(y, np.sort(x, axis=1))


def test_counts_in_a_local_array_of_bytes(version):
    x = integers(np.uint32, 2)
    want = np.array([[str(v).count(str(k)) if v else 0 for v in x] for k in range(10)], np.int32)
    for n, y in rows(version, "local_memory/digits", [x], np.int32, 10):
        np.testing.assert_array_equal(y, want[:, :n])


def test_local_structs_with_fields_of_all_widths(version):
    x = np.random.default_rng(3).integers(0, 100, MOST).astype(np.int32)

    def expected(v, i):
        # slot (k + i) % 3 was filled by k
        k = ((v & 1) - i) % 3
        return v * 0.25 + k + (v - k) + k + 100 * k + k + v - k

    for n, y in rows(version, "local_memory/structs_of_all_widths", [x], np.float64, 1):
        np.testing.assert_array_equal(y[0], [expected(int(v), i) for i, v in enumerate(x[:n])])


def test_local_arrays_that_no_register_file_holds(version):
    prime = [all(k % d for d in range(2, int(k**0.5) + 1)) for k in range(512)]
    for n in SIZES:
        y = poisoned(n, np.int32)
        launched(version, "local_memory/sieve", n, y)
        np.testing.assert_array_equal(y, [sum(prime[2 : 64 + i % 448]) for i in range(n)])


def test_constants_of_every_kind(version):
    x = np.random.default_rng(4).integers(0, 50, MOST).astype(np.int32)
    weights = np.array([0.5, -1.0, 2.0, 1e-3, 4.0, 0, 0, 0], np.float32)
    layers = [(3, 0.5, 100.0, (1, 2, 3, 4)), (-7, 2.0, -0.25, (9, 8, 7, 6))]
    shorts, names, corners = (
        [[1, -2, 3], [-4, 5, -6]],
        ["lane", "warp", "block"],
        [[1, 2, 3, 4], [5, 6, 7, 8]],
    )

    def results(v):
        k = v & 1
        rows_, scale, shift, flags = layers[k]
        return [float(weights[v & 7] + np.float32(41)), rows_ * scale + shift + flags[v & 3],
                shorts[k][(v >> 1) % 3], float([1 << 40, -5][k]), ord(names[v % 3][k]),
                corners[k][1] * corners[1 - k][3]]  # fmt: skip

    want = np.array([results(int(v)) for v in x]).T
    for n, y in rows(version, "constant_memory/constants", [x], np.float64, 6):
        np.testing.assert_array_equal(y, want[:, :n])


def test_a_device_variable_lives_from_launch_to_launch(version):
    counting = fresh(version, "constant_memory/counts_launches")
    for launch in range(3):
        y = poisoned(1, np.uint32)
        run(counting, 1, 32, y)
        assert y[0] == launch


PAIRS = {"char2": np.int8, "short2": np.int16, "int2": np.int32, "float2": np.float32,
         "longlong2": np.int64, "double2": np.float64}  # fmt: skip
FOURS = {"uchar4": np.uint8, "ushort4": np.uint16, "uint4": np.uint32, "float4": np.float32}


@pytest.mark.parametrize("name", [*PAIRS, *FOURS, "float3"])
def test_vectors_of_every_width(version, name):
    width = int(name[-1])
    dtype = (PAIRS | FOURS | {"float3": np.float32})[name]
    for n in SIZES:
        x = np.random.default_rng(5).integers(0, 100, (n, width)).astype(dtype)
        y = poisoned((n, width), dtype)
        launched(version, f"vector_accesses/turn_{name}", n, x.copy(), y)
        np.testing.assert_array_equal(y, x[:, [2, 0, 1]] if width == 3 else x[:, ::-1])


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("s8", np.int8),
        ("u8", np.uint8),
        ("s16", np.int16),
        ("u16", np.uint16),
        ("s64", np.int64),
        ("f64", np.float64),
    ],
)
def test_single_elements_of_every_width(version, name, dtype):
    x = integers(dtype, 6) if name != "f64" else np.random.default_rng(6).normal(size=MOST)
    for n in SIZES:
        y = poisoned(n, dtype)
        launched(version, f"vector_accesses/copy_{name}", n, x[:n].copy(), y)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(y, x[:n] + dtype(1))


def test_shared_memory_written_by_words_and_read_by_bytes(version):
    x = np.random.default_rng(7).integers(0, 256, (3, 32, 16)).astype(np.uint8)
    y = poisoned((3, 4, 32, 4), np.uint8)
    run(kernel(version, "vector_accesses/transposed_bytes"), 3, 32, x, y)
    np.testing.assert_array_equal(y, x.reshape(3, 32, 4, 4).transpose(0, 2, 1, 3))


def test_read_only_inputs(version):
    for n in SIZES:
        x = np.random.default_rng(8).integers(-9, 9, n).astype(np.float32)
        z = np.arange(n, dtype=np.int32)
        y = poisoned(n, np.float32)
        launched(version, "cached_accesses/read_only", n, x.copy(), z, y)
        np.testing.assert_array_equal(y, x * z + np.roll(x, -1))


def test_loads_and_stores_with_hints_on_caches(version):
    for n in SIZES:
        random = np.random.default_rng(9)
        x, v = (
            random.integers(-9, 9, n).astype(np.float32),
            random.integers(-9, 9, (n, 4)).astype(np.float32),
        )
        d, y = random.integers(-9, 9, n).astype(np.float64), poisoned((4, n), np.float32)
        launched(version, "cached_accesses/by_hint", n, x.copy(), v.copy(), d.copy(), y)
        want = 63 * x + d + v[:, 0] + v[:, 3]
        np.testing.assert_array_equal(y, want + np.arange(4)[:, None])


def test_volatile_memory_is_read_each_time(version):
    chosen = kernel(version, "cached_accesses/watched")
    for n in SIZES:
        x, y = integers(np.int32, 10)[:n] >> 12, poisoned(n, np.float32)
        ran = run(chosen, -(-n // 64), 64, x.copy(), y, n)
        np.testing.assert_array_equal(y, 2 * x + 1)
        twice = ran.lines[chosen.line("int twice")]
        assert twice.shared_load_requests == 2 * -(-n // 32)


def test_the_kind_of_memory_that_an_address_means(version):
    for n in SIZES:
        y = poisoned(n, np.int32)
        launched(version, "pointers/spaces", n, np.arange(n, dtype=np.int32), y)
        np.testing.assert_array_equal(y, np.resize([1, 2, 4, 8], n))


def test_shared_memory_by_its_own_address(version):
    for n in (2, 32, 100):
        x, y = integers(np.int32, 11)[:n], poisoned(n, np.int32)
        launched(version, "pointers/shared_by_address", n, x.copy(), y)
        np.testing.assert_array_equal(y, x.reshape(-1, 2)[:, ::-1].reshape(-1))


def test_unions_and_bit_fields(version):
    x = integers(np.int32, 12)
    x[:3] = np.array([0.5, 1.5, -2.0], np.float32).view(np.int32)

    def results(v):
        word = v % 2**32
        raw = word.to_bytes(4, "little")
        low, middle, high = word & 31, word >> 5 & 2047, word >> 16
        signed = middle - 2048 * (middle >> 10)
        upper, lower = (h - 2**16 * (h >> 15) for h in (high, word & 0xFFFF))
        changed = low | (-3 & 2047) << 5 | (high + 1) % 2**16 << 16
        return [upper * 2 + lower, raw[3] + raw[v & 3], low * 3 + signed,
                changed - 2**32 * (changed >> 31),
                np.int32(v).view(np.float32) > 1]  # fmt: skip

    want = np.array([results(int(v)) for v in x]).T
    for n, y in rows(version, "pointers/unions_and_fields", [x], np.int32, 5):
        np.testing.assert_array_equal(y, want[:, :n])


def test_structs_that_hold_pointers(version):
    x = np.arange(3 * MOST, dtype=np.int32)
    for n in SIZES:
        y = poisoned(n, np.int32)
        run(kernel(version, "pointers/structs_of_pointers"), -(-n // 32), 32, x, 3, y, None, n)
        np.testing.assert_array_equal(y, 33 * np.arange(n) + 10 + 1000)


def test_records_are_copied_with_all_their_fields(version):
    layout = np.dtype([("tag", "i1"), ("values", "i4", 5), ("weight", "f8")], align=True)
    assert layout.itemsize == 32
    for n in SIZES:
        random = np.random.default_rng(13)
        x, y = np.zeros(n, layout), poisoned(n, layout)
        x["tag"], x["weight"] = random.integers(-9, 9, n), random.integers(-9, 9, n)
        x["values"] = random.integers(-99, 99, (n, 5))
        launched(version, "pointers/records", n, x.copy(), y)
        want = x[::-1].copy()
        want["values"][np.arange(n), np.arange(n) % 5] = -1
        want["values"][:, 0] = 0x11111111
        want["weight"] += want["tag"]
        for field in layout.names:
            np.testing.assert_array_equal(y[field], want[field], field)


def test_a_table_by_value(version):
    table = np.random.default_rng(14).normal(size=32).astype(np.float32)
    x = integers(np.int32, 15)
    for n in SIZES:
        y = poisoned(n, np.float32)
        argument = np.array((table,), [("cells", "f4", 32)])[()]
        run(kernel(version, "pointers/by_value"), -(-n // 32), 32, argument, x[:n].copy(), y, n)
        np.testing.assert_array_equal(y, table[x[:n] & 31])
