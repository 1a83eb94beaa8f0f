"""ldmatrix and movmatrix: who gets which element, what it costs, and what may go wrong."""

import re

import numpy as np
import pytest

from simulator.faults import FaultKind
from simulator.instructions.rows import UnknownInstruction
from tests.simulator.compiled import fault, run, written
from tests.simulator.fragments.stored import LANES, TILES, offsets

SHARED = ".shared .align 16 .b8 tile[8192];\n"
PARAMETERS = ".param .u64 x, .param .u64 rows, .param .u64 y"


def kernel(tiles, transposed=False, before="", guard="", space=".shared", fill=True):
    """Copies x, 4096 halves, to shared memory; lane i names the row at element rows[i].

    y  [lanes, tiles] what each lane gets
    """
    registers = [f"r{k}" for k in range(tiles)]
    declared = [("b32", name) for name in ("i", "at", "row", *registers)]
    declared += [("b64", "from"), ("b64", "to"), ("b16", "h"), ("pred", "p"), ("pred", "q")]
    form = f"m8n8.x{tiles}{'.trans' if transposed else ''}{space}.b16"
    stores = (f"st.global.b32 [to+{4 * k}], r{k};" for k in range(tiles))
    body = f"""
        mov.u32 i, %tid.x;
        ld.param.u64 from, [x];
        mov.u32 at, tile;
        {"" if fill else "bra filled;"}
    more:
        mad.wide.u32 to, i, 2, from;
        ld.global.b16 h, [to];
        mad.lo.u32 row, i, 2, at;
        st.shared.b16 [row], h;
        add.u32 i, i, %ntid.x;
        setp.lt.u32 q, i, 4096;
        @q bra more;
    filled:
        bar.sync 0;
        mov.u32 i, %tid.x;
        ld.param.u64 from, [rows];
        mad.wide.u32 to, i, 4, from;
        ld.global.u32 row, [to];
        mad.lo.u32 row, row, 2, at;
        {" ".join(f"mov.b32 {register}, 7;" for register in registers)}
        {before}
        {guard} ldmatrix.sync.aligned.{form} {{{",".join(registers)}}}, [row];
        mov.u32 i, %tid.x;
        ld.param.u64 from, [y];
        mad.wide.u32 to, i, {4 * tiles}, from;
        {" ".join(stores)}
        ret;"""
    return written(body, PARAMETERS, declared, SHARED)


def halves(count=4096):
    return np.arange(count, dtype=np.uint16)


@pytest.mark.parametrize("name", TILES)
@pytest.mark.parametrize("apart", [8, 24, 72])
def test_lanes_get_the_elements_that_another_library_has(name, apart):
    recorded = TILES[name]
    tiles = recorded["tiles"]
    rows = np.arange(LANES, dtype=np.int32) * apart
    y = np.zeros((LANES, tiles), np.uint32)
    run(kernel(tiles, recorded["transposed"]), 1, LANES, halves(), rows, y)
    place = offsets(recorded)  # [lanes, values] of elements, 8 to a row
    np.testing.assert_array_equal(y.view(np.uint16), place // 8 * apart + place % 8)


@pytest.mark.parametrize("tiles", [1, 2])
def test_addresses_of_lanes_that_name_no_row_do_not_matter(tiles):
    rows = np.arange(LANES, dtype=np.int32) * 8
    wild = rows.copy()
    wild[8 * tiles :] = 1_000_001
    got = []
    for named in (rows, wild):
        y = np.zeros((LANES, tiles), np.uint32)
        run(kernel(tiles), 1, LANES, halves(), named, y)
        got.append(y)
    np.testing.assert_array_equal(*got)


def test_each_warp_reads_its_own_rows():
    rows = np.arange(4 * LANES, dtype=np.int32) * 8 % 1024
    y = np.zeros((4 * LANES, 4), np.uint32)
    run(kernel(4), 1, 4 * LANES, halves(), rows, y)
    for warp in range(4):
        alone = np.zeros((LANES, 4), np.uint32)
        own = slice(warp * LANES, (warp + 1) * LANES)
        run(kernel(4), 1, LANES, halves(), rows[own], alone)
        np.testing.assert_array_equal(y[own], alone)


def test_a_generic_address_of_shared_memory_will_do():
    before = "cvt.u64.u32 to, row; cvta.shared.u64 to, to;"
    text = kernel(2, before=before, space="").source.replace("}, [row]", "}, [to]")
    generic = written(text.split("{\n", 1)[1].rsplit("\n}", 1)[0], PARAMETERS, (), SHARED)
    rows = np.arange(LANES, dtype=np.int32) * 8
    y, want = np.zeros((2, LANES, 2), np.uint32)
    run(generic, 1, LANES, halves(), rows, y)
    run(kernel(2), 1, LANES, halves(), rows, want)
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize(
    "tiles, apart, passes",
    [
        (1, 8, 1),
        (2, 8, 2),
        (4, 8, 4),
        (4, 16, 8),  # every other row of 16 bytes on the same banks
        (4, 32, 16),
        (4, 64, 32),  # 128 bytes: all 8 rows of a tile on the same 4 banks
        (2, 64, 16),
        (4, 72, 4),  # padded by 16 bytes
        (4, 0, 4),  # 8 times the same row
    ],
)
def test_each_tile_is_a_pass_and_rows_on_the_same_banks_are_more(tiles, apart, passes):
    rows = np.arange(LANES, dtype=np.int32) * apart
    y = np.zeros((LANES, tiles), np.uint32)
    counters = run(kernel(tiles), 1, LANES, halves(), rows, y).counters
    assert counters.shared_load_requests == 1
    assert counters.shared_load_wavefronts == passes
    assert counters.shared_load_conflicts == passes - tiles


def test_pairs_of_equal_rows_save_no_pass():
    """As they would where lanes load 16 bytes each: two of a pair are served together there."""
    rows = np.arange(LANES, dtype=np.int32) // 2 * 8
    y = np.zeros((LANES, 4), np.uint32)
    assert run(kernel(4), 1, LANES, halves(), rows, y).counters.shared_load_wavefronts == 4


def test_a_row_that_is_not_aligned_names_its_lane():
    rows = np.arange(LANES, dtype=np.int32) * 8
    rows[13] += 4
    y = np.zeros((LANES, 2), np.uint32)
    found = fault(kernel(2), 1, LANES, halves(), rows, y)
    assert found.kind is FaultKind.MISALIGNED
    assert found.thread == (13, 0, 0)
    assert "16 bytes at byte 216 of" in found.what


def test_a_row_outside_shared_memory_names_its_lane():
    rows = np.arange(LANES, dtype=np.int32) * 8
    rows[30] = 4096
    y = np.zeros((LANES, 4), np.uint32)
    found = fault(kernel(4), 1, LANES, halves(), rows, y)
    assert found.kind is FaultKind.OUT_OF_BOUNDS
    assert found.thread == (30, 0, 0)
    assert "byte 8192 of its block's shared memory" in found.what


def test_a_row_that_nobody_has_written_is_a_fault():
    rows = np.arange(LANES, dtype=np.int32) * 8
    y = np.zeros((LANES, 4), np.uint32)
    found = fault(kernel(4, fill=False), 1, LANES, halves(), rows, y)
    assert found.kind is FaultKind.UNINITIALISED_READ


ODD = "and.b32 i, i, 1; setp.ne.u32 p, i, 0;"


@pytest.mark.parametrize("before, guard", [(f"{ODD} @p bra away;", ""), (ODD, "@p")])
def test_a_warp_that_is_not_whole_is_a_fault(before, guard):
    made = kernel(4, before=before, guard=guard)
    if "away" in before:
        text = made.source.rsplit("ret;", 1)[0] + "away: ret;"
        made = written(text.split("{\n", 1)[1], PARAMETERS, (), SHARED)
    rows = np.arange(LANES, dtype=np.int32) * 8
    found = fault(made, 1, LANES, halves(), rows, np.zeros((LANES, 4), np.uint32))
    assert found.kind is FaultKind.DIVERGENT_WARP
    assert re.search("executes ldmatrix without lane [01] of its warp", found.what)


def test_movmatrix_transposes_what_the_lanes_hold():
    body = """
        mov.u32 i, %tid.x;
        ld.param.u64 from, [x]; mad.wide.u32 at, i, 4, from; ld.global.b32 w, [at];
        movmatrix.sync.aligned.m8n8.trans.b16 v, w;
        ld.param.u64 from, [y]; mad.wide.u32 at, i, 4, from; st.global.b32 [at], v;
        ret;"""
    registers = [("b32", name) for name in "iwv"] + [("b64", "from"), ("b64", "at")]
    x = np.arange(2 * 64, dtype=np.uint16).reshape(2, 8, 8)  # of two warps
    y = np.zeros_like(x)
    made = written(body, ".param .u64 x, .param .u64 y", registers)
    launched = run(made, 1, 2 * LANES, x, y)
    np.testing.assert_array_equal(y, x.transpose(0, 2, 1))
    assert launched.counters.exchange_instructions == 2


@pytest.mark.parametrize(
    "opcode",
    [
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [row], {r0};",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {r0}, [row];",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {r0}, [row];",
    ],
)
def test_what_8_0_does_not_have_names_itself(opcode):
    with pytest.raises(UnknownInstruction, match=opcode.split()[0]):
        run(written(f"{opcode} ret;", "", [("b32", "r0"), ("b32", "row")], SHARED), 1, LANES)
