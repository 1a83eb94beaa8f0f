"""Every counter, worked out by hand for kernels of which every instruction is known."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from simulator import Counters, Traffic
from simulator.observing.counters import CLASSES
from tests.simulator.compiled import run, written

REGISTERS = [("b64", "x, y, a, d"), ("b32", "t, v, w, v1, w1"), ("pred", "p, q"), ("f64", "f")]
BUFFERS = ".param .u64 k_param_0, .param .u64 k_param_1"
HEAD = """ld.param.u64 x, [k_param_0];
ld.param.u64 y, [k_param_1];
mov.u32 t, %tid.x;
mad.wide.u32 a, t, 4, x;
"""  # 4 instructions


def counted(body, threads=32, before="", grid=1, x=None, y=None, head=HEAD, **settings):
    kernel = written(head + body, BUFFERS, REGISTERS, before)
    x = np.zeros(256, np.int32) if x is None else x
    y = np.zeros(256, np.int32) if y is None else y
    return run(kernel, grid, threads, x, y, **settings)


def seen(launched):
    """The counters that are not zero, without those that every launch has."""
    always = ("blocks", "warps", "threads", "warp_instructions", "thread_instructions", *CLASSES)
    values = {f.name: getattr(launched.counters, f.name) for f in fields(Counters)}
    return {name: v for name, v in values.items() if v and name not in always}


def test_every_counter_is_counted_by_hand_in_some_test():
    texts = [file.read_text() for file in Path(__file__).parent.glob("test_counters_*.py")]
    assert [f.name for f in fields(Counters) if f.name not in "".join(texts)] == []


def test_blocks_warps_threads_and_instructions():
    counters = counted("ret;", threads=70, grid=5).counters
    assert (counters.blocks, counters.warps, counters.threads) == (5, 5 * 3, 5 * 70)
    assert counters.warp_instructions == 15 * 5  # warps x instructions
    assert counters.thread_instructions == 350 * 5
    assert counters.execution_efficiency == pytest.approx(350 / (15 * 32))


@pytest.mark.parametrize(
    ("threads", "sectors", "useful", "ideal"),
    [
        (32, 4, 128, 4),
        (64, 8, 256, 8),
        (1, 1, 4, 1),
        (9, 2, 36, 2),  # 36 bytes reach into the second sector
        (33, 5, 132, 5),  # a full warp and one lane
    ],
)
def test_contiguous_words(threads, sectors, useful, ideal):
    launched = counted("ld.global.u32 v, [a]; ret;", threads)
    assert seen(launched) == {
        "global_load_requests": -(-threads // 32),
        "global_load_sectors": sectors,
        "global_load_bytes": useful,
        "global_load_ideal_sectors": ideal,
    }
    assert launched.counters.global_load_efficiency == useful / (32 * sectors)
    assert launched.counters.global_store_efficiency == 1.0


def test_four_bytes_off_is_one_sector_more():
    launched = counted("ld.global.u32 v, [a+4]; ret;")
    assert seen(launched) == {
        "global_load_requests": 1,
        "global_load_sectors": 5,  # bytes 4 .. 131
        "global_load_bytes": 128,
        "global_load_ideal_sectors": 4,
    }


@pytest.mark.parametrize(
    ("instruction", "scale", "sectors"),
    [("st.global.v2.u32 [a], {t, t};", 8, 8), ("st.global.v4.u32 [a], {t, t, t, t};", 16, 16)],
)
def test_wide_stores_need_as_many_sectors_as_they_fill(instruction, scale, sectors):
    launched = counted(f"mad.wide.u32 a, t, {scale}, x; {instruction} ret;")
    assert seen(launched) == {
        "global_store_requests": 1,
        "global_store_sectors": sectors,
        "global_store_bytes": 32 * scale,
        "global_store_ideal_sectors": sectors,
    }
    assert launched.counters.global_store_efficiency == 1.0


def test_addresses_that_lanes_share_count_once():
    launched = counted("shr.u32 t, t, 2; mad.wide.u32 a, t, 4, x; ld.global.u32 v, [a]; ret;")
    assert seen(launched) == {
        "global_load_requests": 1,
        "global_load_sectors": 1,
        "global_load_bytes": 32,  # 8 words, each read by 4 lanes
        "global_load_ideal_sectors": 1,
    }


def test_one_address_for_everybody():
    launched = counted("ld.global.v4.u32 {v, w, v1, w1}, [x+16]; ret;", threads=40)
    assert seen(launched) == {
        "global_load_requests": 2,
        "global_load_sectors": 2,
        "global_load_bytes": 32,  # 16 for each of two warps
        "global_load_ideal_sectors": 2,
    }
    assert launched.buffers["argument 0"].bytes_read == 16


def test_a_guard_leaves_lanes_out_of_the_request_but_not_of_the_instruction():
    body = "setp.ge.u32 p, t, 20; @p ld.global.u32 v, [a]; @!p st.global.u32 [a], t; ret;"
    launched = counted(body, threads=64)
    assert seen(launched) == {
        "global_load_requests": 2,
        "global_load_sectors": 2 + 4,  # lanes 20 .. 31 lie in bytes 80 .. 127: sectors 2 and 3
        "global_load_bytes": (12 + 32) * 4,
        "global_load_ideal_sectors": 2 + 4,
        "global_store_requests": 1,  # no lane of the second warp
        "global_store_sectors": 3,  # bytes 0 .. 79
        "global_store_bytes": 80,
        "global_store_ideal_sectors": 3,
    }
    assert launched.counters.warp_instructions == 2 * 8
    assert launched.counters.thread_instructions == 64 * 8


def test_a_guard_that_nobody_passes_asks_for_nothing():
    launched = counted(
        "setp.ge.u32 p, t, 99; @p ld.global.u32 v, [a]; @p st.global.u32 [a], v; ret;"
    )
    # The store waits for the load: whether a guard holds is not looked at.
    assert seen(launched) == {"load_waits": 1}
    assert set(launched.buffers.values()) <= {Traffic()}


BRANCHES = """{compare}
@p bra END;
add.u32 t, t, 1;
END: add.u32 t, t, 1;
ret;"""


@pytest.mark.parametrize(
    ("compare", "divergent", "ran"),
    [
        ("setp.ge.u32 p, t, 32;", 0, 32),  # whole warps part
        ("setp.ge.u32 p, t, 40;", 1, 40),
        ("and.b32 v, t, 1; setp.eq.u32 p, v, 0;", 3, 40),
        ("setp.ge.u32 p, t, 0;", 0, 0),
    ],
)
def test_a_branch_is_divergent_where_the_lanes_of_a_warp_go_both_ways(compare, divergent, ran):
    counters = counted(BRANCHES.format(compare=compare), threads=80).counters
    assert (counters.branches, counters.divergent_branches) == (3, divergent)
    head = 4 + compare.count(";") + 1
    assert counters.thread_instructions == 80 * (head + 2) + ran


@pytest.mark.parametrize("compare", ["setp.ge.u32 p, t, 40;", "setp.lt.u32 p, t, 40;"])
def test_lanes_that_only_return_early_make_no_branch_divergent(compare):
    """The assembler makes `if (i < n)` around a kernel an exit with a predicate."""
    counters = counted(f"{compare} @p bra END; add.u32 t, t, 1; END: ret;", threads=80).counters
    assert (counters.branches, counters.divergent_branches) == (3, 0)


@pytest.mark.parametrize(
    ("instructions", "counter"),
    [
        ("bar.sync 0; barrier.sync 0; setp.eq.u32 p, t, t; bar.red.popc.u32 v, 0, p;", "barriers"),
        ("bar.warp.sync -1; bar.warp.sync -1; bar.warp.sync -1;", "warp_barriers"),
        ("shfl.sync.down.b32 v, t, 1, 31, -1;" * 3 + "mov.u32 w, v;", "shuffles"),
        (
            "vote.sync.ballot.b32 v, p, -1; match.any.sync.b32 v, t, -1;"
            "match.all.sync.b32 v|p, t, -1;",
            "votes",
        ),
        ("redux.sync.add.s32 v, t, -1;" * 3, "warp_reductions"),
    ],
)
def test_what_lanes_do_together_counts_by_warp(instructions, counter):
    assert seen(counted(f"{instructions} ret;", threads=96)) == {counter: 3 * 3}


TILE = ".shared .align 16 .b8 tile[4096];"


def in_shared(body, threads=32):
    return counted(f"mov.u64 a, tile; {body} ret;", threads, before=TILE, faults=False)


@pytest.mark.parametrize(
    ("stride", "wavefronts"),
    [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (31, 1)],
)
def test_words_of_one_bank_take_turns(stride, wavefronts):
    launched = in_shared(f"mad.wide.u32 a, t, {4 * stride}, a; ld.shared.u32 v, [a];")
    want = {"shared_load_requests": 1, "shared_load_wavefronts": wavefronts}
    if wavefronts > 1:
        want["shared_load_conflicts"] = wavefronts - 1
    assert seen(launched) == want


def test_a_column_read_backwards_conflicts_like_one_read_forwards():
    body = "sub.u32 t, 31, t; mad.wide.u32 a, t, 128, a; st.shared.u32 [a], t;"
    assert seen(in_shared(body)) == {
        "shared_store_requests": 1,
        "shared_store_wavefronts": 32,
        "shared_store_conflicts": 31,
    }


def test_bytes_of_one_word_do_not_conflict():
    body = "cvt.u64.u32 d, t; add.u64 a, a, d; st.shared.u8 [a], t;"
    assert seen(in_shared(body)) == {"shared_store_requests": 1, "shared_store_wavefronts": 1}


@pytest.mark.parametrize(
    ("instruction", "bytes_", "stride", "threads", "wavefronts", "best"),
    [
        ("ld.shared.v2.u32 {v, w}, [a];", 8, 8, 32, 2, 2),  # half warps of 16 x 2 words
        ("ld.shared.v2.u32 {v, w}, [a];", 8, 16, 32, 4, 2),  # every other pair of banks
        ("ld.shared.v4.u32 {v, w, v1, w1}, [a];", 16, 16, 32, 4, 4),  # quarters of 8 x 4 words
        ("ld.shared.v4.u32 {v, w, v1, w1}, [a];", 16, 32, 32, 8, 4),
        ("ld.shared.v4.u32 {v, w, v1, w1}, [a];", 16, 128, 32, 32, 4),  # 8 lanes on 4 banks
        ("ld.shared.v4.u32 {v, w, v1, w1}, [a];", 16, 16, 9, 2, 2),  # a quarter and one lane
        ("ld.shared.v4.u32 {v, w, v1, w1}, [a];", 16, 0, 32, 2, 2),  # lanes in pairs: two halves
        ("ld.shared.v2.u32 {v, w}, [a];", 8, 0, 32, 1, 1),
        ("ld.shared.f64 f, [a];", 8, 8, 20, 2, 2),
    ],
)
def test_wide_accesses_are_served_by_half_and_quarter_warps(
    instruction, bytes_, stride, threads, wavefronts, best
):
    launched = in_shared(f"mad.wide.u32 a, t, {stride}, a; {instruction}", threads)
    want = {"shared_load_requests": 1, "shared_load_wavefronts": wavefronts}
    if wavefronts > best:
        want["shared_load_conflicts"] = wavefronts - best
    assert seen(launched) == want


def test_an_address_that_is_known_to_be_one_counts_like_equal_addresses():
    assert seen(in_shared("ld.shared.v4.u32 {v, w, v1, w1}, [a];")) == {
        "shared_load_requests": 1,
        "shared_load_wavefronts": 2,
    }


@pytest.mark.parametrize(
    ("lanes", "wavefronts", "best"),
    [
        ("shr.u32 t, t, 1;", 2, 2),  # n and n ^ 1 share: each half warp asks for 8 items
        ("and.b32 t, t, 30;", 4, 2),  # the same, but items 0 and 8 lie in the same banks
        ("and.b32 t, t, 29;", 4, 2),  # n and n ^ 2 share
        ("and.b32 t, t, 27;", 4, 4),  # n and n ^ 4: of no use
        ("shr.u32 t, t, 1; mul.lo.u32 t, t, 8;", 16, 2),  # in pairs, but 8 items on 4 banks
        ("setp.lt.u32 p, t, 16; @p and.b32 t, t, 30;", 4, 4),  # one half alone
        ("setp.lt.u32 p, t, 16; @p and.b32 t, t, 30; @!p and.b32 t, t, 29;", 4, 4),
    ],
)
def test_wide_loads_of_lanes_in_pairs_serve_twice_as_many(lanes, wavefronts, best):
    body = f"{lanes} mad.wide.u32 a, t, 16, a;"
    load = seen(in_shared(f"{body} ld.shared.v4.u32 {{v, w, v1, w1}}, [a];"))
    assert load["shared_load_wavefronts"] == wavefronts
    assert load.get("shared_load_conflicts", 0) == wavefronts - best
    store = seen(in_shared(f"{body} st.shared.v4.u32 [a], {{v, w, v1, w1}};"))
    assert store["shared_store_wavefronts"] >= 4  # stores are never merged


def test_a_lane_without_its_partner_counts_as_a_pair():
    body = "and.b32 v, t, 1; setp.eq.u32 p, v, 0; mad.wide.u32 a, t, 8, a;"
    assert seen(in_shared(f"{body} @p ld.shared.v2.u32 {{v, w}}, [a];")) == {
        "shared_load_requests": 1,
        "shared_load_wavefronts": 2,  # one pass at best; lanes 0 and 16 want the same banks
        "shared_load_conflicts": 1,
    }
