"""Local memory by hand: the same word of a warp's lanes lies side by side, 8 lanes to a sector."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run
from tests.simulator.test_counters_by_hand import counted, seen

DEPOT = ".local .align 16 .b8 depot[256]; mov.u64 a, depot;"


@pytest.mark.parametrize("direction", ["load", "store"])
@pytest.mark.parametrize(
    ("address", "access", "threads", "sectors", "bytes_"),
    [
        ("", "u32 [a+8] t", 32, 4, 128),  # word 2 of 32 lanes, side by side
        ("", "u32 [a+8] t", 5, 1, 20),
        ("", "u32 [a+8] t", 9, 2, 36),
        ("", "u32 [a+8] t", 40, 5, 160),
        ("", "u8 [a+9] t", 32, 4, 32),  # a byte of each word
        ("", "u16 [a+10] t", 32, 4, 64),
        ("", "v2.u32 [a] {v,w}", 32, 8, 256),  # two words of each lane
        ("", "f64 [a] f", 9, 4, 72),
        ("", "v4.u32 [a] {v,w,v1,w1}", 32, 16, 512),
        ("mad.wide.u32 a, t, 4, a;", "u32 [a] t", 32, 32, 128),  # every lane another word
        ("mad.wide.u32 a, t, 8, a;", "v2.u32 [a] {v,w}", 32, 64, 256),
        ("and.b32 t, t, 1; mad.wide.u32 a, t, 4, a;", "u32 [a] t", 32, 8, 128),
        ("shr.u32 t, t, 3; mad.wide.u32 a, t, 4, a;", "u32 [a] t", 32, 4, 128),
        ("cvt.u64.u32 d, t; add.u64 a, a, d;", "u8 [a] t", 32, 8, 32),  # two words of 8 lanes
    ],
)
def test_a_sector_holds_one_word_of_eight_lanes(
    address, access, threads, sectors, bytes_, direction
):
    type_, where, value = access.split()
    instruction = {"load": f"ld.local.{type_} {value}, {where};",
                   "store": f"st.local.{type_} {where}, {value};"}[direction]  # fmt: skip
    assert seen(counted(f"{DEPOT} {address} {instruction} ret;", threads)) == {
        # One for each word of 4 bytes.
        f"local_{direction}_requests": -(-threads // 32) * max(1, bytes_ // threads // 4),
        f"local_{direction}_sectors": sectors,
        f"local_{direction}_bytes": bytes_,
    }


def test_lanes_that_take_no_part_move_nothing():
    body = "setp.lt.u32 p, t, 8; @p st.local.u32 [a], t; @!p st.local.u32 [a+4], t; ret;"
    assert seen(counted(f"{DEPOT} {body}")) == {
        "local_store_requests": 2,
        "local_store_sectors": 1 + 3,
        "local_store_bytes": 128,
    }


LOCAL = """extern "C" __global__ void pick(const int* index, float* y)
{
    float own[16];
    #pragma unroll
    for (int k = 0; k < 16; ++k) own[k] = k * threadIdx.x;
    y[threadIdx.x] = own[INDEX];
}"""


@pytest.mark.parametrize(
    ("index", "loads", "sectors"),
    [
        ("index[threadIdx.x]", 2, 64),  # each lane its own word
        ("index[0]", 2, 8),  # all lanes the same
        ("5", 0, 0),  # known to the compiler: registers
    ],
)
def test_an_array_with_a_computed_index_lives_in_local_memory(index, loads, sectors):
    kernel = compiled(LOCAL.replace("INDEX", index))
    x, y = np.arange(64, dtype=np.int32) % 16, np.zeros(64, np.float32)
    lines = run(kernel, 1, 64, x, y).lines
    line = lines[kernel.line("own[" + index)]
    assert (line.local_load_requests, line.local_load_sectors) == (loads, sectors)
    assert line.local_load_bytes == loads * 32 * 4
