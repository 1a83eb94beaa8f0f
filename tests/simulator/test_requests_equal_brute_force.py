"""Sectors, bytes and wavefronts of any pattern equal those counted lane by lane."""

from functools import cache, partial

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.observing import requests
from simulator.observing.address_rows import rows_of, summed
from simulator.running.addresses import Addresses
from simulator.running.lanes import Lanes
from tests.simulator import brute_force
from tests.simulator.compiled import run, written

ACCESSES = {  # bytes for each lane -> (type of the instruction, its registers)
    1: ("u8", "v"),
    2: ("u16", "v"),
    4: ("u32", "v"),
    8: ("v2.u32", "{v, w}"),
    16: ("v4.u32", "{v, w, v1, w1}"),
}
ELEMENTS = 512  # in x and in the tile
many = settings(derandomize=True, deadline=None, database=None, max_examples=300)


@cache
def gather(size, shift):
    """Lanes with an index >= 0 read x and the tile at index + shift, and write both at index.

    On lines 1 and 2 the reads, on 3 and 4 the writes.
    """
    type_, registers = ACCESSES[size]
    return written(
        f"""ld.param.u64 index, [k_param_0];
            ld.param.u64 x, [k_param_1];
            mov.u32 t, %tid.x;
            mad.wide.u32 index, t, 2, index;
            ld.global.s16 t, [index];
            setp.lt.s32 p, t, 0;
            @p bra END;
            mad.wide.s32 x, t, {size}, x;
            mov.u64 near, tile;
            mad.wide.s32 near, t, {size}, near;
            .loc 1 1 1
            ld.global.{type_} {registers}, [x + {shift * size}];
            .loc 1 2 1
            ld.shared.{type_} {registers}, [near + {shift * size}];
            .loc 1 3 1
            st.shared.{type_} [near], {registers};
            .loc 1 4 1
            st.global.{type_} [x], {registers};
            END: ret;""",
        parameters=".param .u64 k_param_0, .param .u64 k_param_1",
        registers=[("b64", "index, x, near"), ("b32", "t, v, w, v1, w1"), ("pred", "p")],
        before=f".shared .align 16 .b8 tile[{ELEMENTS * size}];",
    )


@st.composite
def patterns(draw, sizes=tuple(ACCESSES)):
    """(bytes for each lane, an element index for each thread, -1 where it takes no part)."""
    size = draw(st.sampled_from(sizes))
    threads = draw(st.sampled_from([32, 64, 128, 7, 45, 100]))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    lane = np.arange(threads)
    kind = draw(
        st.sampled_from(["stride", "random", "repeated", "few", "permuted", "xor", "pairs"])
    )
    if kind == "stride":
        index = draw(st.integers(0, 63)) + lane * draw(st.integers(-33, 33))
    elif kind == "random":
        index = random.integers(0, ELEMENTS, threads)
    elif kind == "repeated":  # every warp the same shape, elsewhere
        shape = random.integers(0, 200, 32)
        index = np.resize(shape, threads) + lane // 32 * draw(st.integers(0, 40))
    elif kind == "few":
        index = random.choice(random.integers(0, ELEMENTS, 3), threads)
    elif kind == "pairs":  # lanes that differ in one bit, or in two, share an element
        index = random.integers(0, ELEMENTS, threads)[lane & ~draw(st.sampled_from([1, 2, 3, 4]))]
    elif kind == "permuted":
        index = random.permutation(ELEMENTS)[:threads]
    else:
        index = lane ^ draw(st.integers(0, 127))
    index = index % (ELEMENTS - 2)
    absent = draw(st.sampled_from(["nobody", "some", "most", "a half", "whole warps"]))
    share = {"nobody": 0, "some": 0.2, "most": 0.9}.get(absent)
    if share is not None:
        index = np.where(random.random(threads) < share, -1, index)
    elif absent == "a half":
        index = np.where(lane % 32 < 16, -1, index)
    else:
        index = np.where(lane // 32 % 2 == 0, -1, index)
    return size, index.astype(np.int16)


@many
@given(patterns(), st.sampled_from([0, 1, 2]))
def test_counters_of_any_gather_and_scatter_equal_brute_force(pattern, shift):
    size, index = pattern
    x = np.arange(ELEMENTS * size, dtype=np.uint8)
    lines = run(gather(size, shift), 1, len(index), index, x, faults=False).lines

    def check(line, name, moved):
        """Compare the counters of a line with the sum over the warps."""
        warps = warps_of(index, moved, size)
        counters = lines[line]
        got = {
            what: getattr(counters, f"{name}_{what}")
            for what in ("requests", "sectors", "bytes", "ideal_sectors", "wavefronts", "conflicts")
            if hasattr(counters, f"{name}_{what}")
        }
        want = {"requests": len(warps)}
        if "global" in name:
            for what, count in (
                ("sectors", brute_force.sectors),
                ("bytes", brute_force.useful_bytes),
                ("ideal_sectors", brute_force.ideal_sectors),
            ):
                want[what] = sum(count(warp.values(), size) for warp in warps)
        else:
            passes = [brute_force.wavefronts(warp, size, "load" in name) for warp in warps]
            want["wavefronts"] = sum(p for p, _ in passes)
            want["conflicts"] = sum(p - best for p, best in passes)
        assert got == want, f"{name}: {got} is not {want}"

    check(1, "global_load", shift)
    check(2, "shared_load", shift)
    check(3, "shared_store", 0)
    check(4, "global_store", 0)


@cache
def update(size, shift):
    """Lanes with an index >= 0 add to x (line 1) and to the tile (line 2) at index + shift."""
    type_ = {4: "u32", 8: "u64"}[size]
    return written(
        f"""ld.param.u64 index, [k_param_0];
            ld.param.u64 x, [k_param_1];
            mov.u32 t, %tid.x;
            mad.wide.u32 index, t, 2, index;
            ld.global.s16 t, [index];
            setp.lt.s32 p, t, 0;
            @p bra END;
            mad.wide.s32 x, t, {size}, x;
            mov.u64 near, tile;
            mad.wide.s32 near, t, {size}, near;
            .loc 1 1 1
            red.global.add.{type_} [x + {shift * size}], 2;
            .loc 1 2 1
            red.shared.add.{type_} [near + {shift * size}], 2;
            END: ret;""",
        parameters=".param .u64 k_param_0, .param .u64 k_param_1",
        registers=[("b64", "index, x, near"), ("b32", "t"), ("pred", "p")],
        before=f".shared .align 16 .b8 tile[{ELEMENTS * size}];",
    )


def warps_of(index, shift, size):
    """{lane: address} of each warp that has any."""
    warps = [
        {lane: (int(k) + shift) * size for lane, k in enumerate(warp) if k >= 0}
        for warp in np.split(index, range(32, len(index), 32))
    ]
    return [warp for warp in warps if warp]


@many
@given(patterns([4, 8]), st.sampled_from([0, 1, 2]))
def test_contention_of_any_atomics_equals_brute_force(pattern, shift):
    size, index = pattern
    launched = run(update(size, shift), 1, len(index), index, np.zeros(ELEMENTS * size, np.uint8),
                   faults=False)  # fmt: skip
    warps = warps_of(index, shift, size)
    near, far = launched.lines[2], launched.lines[1]
    turns = sum(brute_force.most_on_one_address(warp) for warp in warps)
    for line in (near, far):
        assert (line.atomics, line.atomic_turns) == (len(warps), turns)
        assert line.atomic_lanes == sum(map(len, warps))
    assert far.global_atomic_requests == near.shared_atomic_requests == len(warps)
    assert far.global_atomic_sectors == sum(
        brute_force.sectors(warp.values(), size) for warp in warps
    )
    assert near.shared_atomic_turns == sum(brute_force.most_on_a_bank(w, size) for w in warps)
    hottest = brute_force.most_on_one_address(dict(enumerate(index[index >= 0].tolist())))
    found = {name: traffic.hottest_updates for name, traffic in launched.buffers.items()}
    assert found.get("argument 1", 0) == found.get("shared memory", 0) == hottest


@cache
def local(size, shift):
    """Lanes with an index >= 0 write and read their own array at index + shift; line 1 counts."""
    type_, registers = ACCESSES[size]
    return written(
        f""".local .align 16 .b8 own[{ELEMENTS * size}];
            ld.param.u64 index, [k_param_0];
            mov.u32 t, %tid.x;
            mad.wide.u32 index, t, 2, index;
            ld.global.s16 t, [index];
            setp.lt.s32 p, t, 0;
            @p bra END;
            mov.u64 x, own;
            mad.wide.s32 x, t, {size}, x;
            .loc 1 1 1
            ld.local.{type_} {registers}, [x + {shift * size}];
            st.local.{type_} [x + {shift * size}], {registers};
            END: ret;""",
        parameters=".param .u64 k_param_0",
        registers=[("b64", "index, x"), ("b32", "t, v, w, v1, w1"), ("pred", "p")],
    )


@many
@given(patterns(), st.sampled_from([0, 1, 2]))
def test_local_traffic_of_any_index_equals_brute_force(pattern, shift):
    size, index = pattern
    counters = run(local(size, shift), 1, len(index), index).lines[1]
    warps = warps_of(index, shift, size)
    sectors = sum(brute_force.local_sectors(warp, size) for warp in warps)
    bytes_ = sum(map(len, warps)) * size
    requests_ = len(warps) * max(1, size // 4)
    assert (counters.local_load_requests, counters.local_store_requests) == (requests_,) * 2
    assert (counters.local_load_sectors, counters.local_store_sectors) == (sectors,) * 2
    assert (counters.local_load_bytes, counters.local_store_bytes) == (bytes_,) * 2


@many
@given(
    st.sampled_from([1, 2, 4, 8, 16]),
    st.lists(st.integers(0, 2000), min_size=32, max_size=32),
    st.integers(1, 5),
    st.integers(0, 300),
)
def test_the_routines_themselves_equal_brute_force(size, elements, count, apart):
    rows = (np.array(elements) + apart * np.arange(count)[:, None]) * size
    want = [[f(r, size) for r in rows.tolist()] for f in (
        brute_force.sectors, brute_force.useful_bytes, brute_force.ideal_sectors
    )]  # fmt: skip
    assert [answer.tolist() for answer in requests.sectors_and_bytes(rows, size)] == want
    groups = rows.reshape(-1, requests.lanes_served_together(size))
    passes = sum(brute_force.wavefronts(dict(enumerate(r)), size)[0] for r in rows.tolist())
    assert requests.wavefronts(groups, size)[0].sum() == passes


@many
@given(st.integers(0, 2**31), st.sampled_from([8, 16, 32]), st.integers(1, 1500))
def test_sums_over_rows_do_not_depend_on_how_many_rows_are_alike(seed, size, count):
    random = np.random.default_rng(seed)
    shapes = random.integers(0, 99, (9, size))
    kind = random.choice(9, count, p=random.dirichlet([random.choice([0.1, 9])] * 9))
    rows = (shapes[kind] + random.integers(0, 50, count)[:, None]) * 4
    lanes = Lanes(None, rows.size)
    known = Addresses(rows.ravel(), lanes)
    got = summed(rows_of(known, lanes, size), 8, 32, partial(requests.sectors_and_bytes, size=4))
    assert got == tuple(int(a.sum()) for a in requests.sectors_and_bytes(rows + 8, 4))
