"""What a kernel of <mma.h> must not do, and how it is told."""

import numpy as np
import pytest

from simulator.faults import FaultKind
from tests.simulator.compiled import compiled, fault, run

HEAD = """#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
"""


def source(body, before="", parameters="const half* a, const half* b, float* c, int ld"):
    return f'{HEAD}{before}extern "C" __global__ void k({parameters})\n{{\n{body}\n}}'


PRODUCT = """    Left left; Right right; Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a + {a}, ld);
    wmma::load_matrix_sync(right, b + {b}, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c + {c}, sum, 16, wmma::mem_row_major);"""


def product(a="0", b="0", c="0", before=""):
    return compiled(source(before + PRODUCT.format(a=a, b=b, c=c)))


def matrices(halves=256, floats=256):
    return np.ones(halves, np.float16), np.ones(halves, np.float16), np.zeros(floats, np.float32)


def found(kernel, threads=32, halves=256, floats=256, ld=16, blocks=1):
    return fault(kernel, blocks, threads, *matrices(halves, floats), ld)


def test_the_product_that_all_others_here_differ_from_is_right():
    a, b, c = matrices()
    run(product(), 1, 32, a, b, c, 16)
    assert (c == 16).all()


@pytest.mark.parametrize(
    "before, after, lane, why",
    [
        ("if (threadIdx.x < 16) {", "}", 16, "is elsewhere"),
        ("if (threadIdx.x % 2) {", "}", 0, "is elsewhere"),
        ("if (threadIdx.x == 7) return;", "", 7, "has returned"),
    ],
)
def test_a_warp_that_is_not_whole(before, after, lane, why):
    # Behind the barrier, lanes that skip the product are not at the end yet.
    wait = "    __syncthreads();\n    if (ld == 77) c[0] = 1.0f;" if after else ""
    kernel = compiled(source(f"{before}\n{PRODUCT.format(a=0, b=0, c=0)}\n{after}\n{wait}"))
    told = found(kernel)
    assert told.kind is FaultKind.DIVERGENT_WARP
    assert f"without lane {lane} of its warp, which {why}" in told.what
    assert told.line == kernel.line("wmma::load_matrix_sync(left")


def test_a_block_of_48_threads_has_half_a_warp():
    told = found(product(), threads=48)
    assert told.kind is FaultKind.DIVERGENT_WARP
    assert "lane 16 of its warp, which does not exist" in told.what
    assert told.thread == (32, 0, 0)


def test_lanes_that_give_different_addresses():
    told = found(product(a="threadIdx.x * 16"), halves=1024)
    assert told.kind is FaultKind.DIVERGENT_WARP
    assert told.what == (
        "thread 1 of block 0, lane 1 of its warp, gives load_matrix_sync the address a[16], "
        "and lane 0 gives a[0]"
    )
    assert "threadIdx.x / 32" in told.advice


def test_lanes_that_give_different_strides():
    body = PRODUCT.format(a="0", b="0", c="0").replace("ld)", "ld + 8 * (threadIdx.x / 16))")
    told = found(compiled(source(body)), halves=1024)
    assert told.kind is FaultKind.DIVERGENT_WARP
    assert "gives load_matrix_sync the stride 24, and lane 0 gives 16" in told.what
    assert told.thread == (16, 0, 0)


def test_warps_may_give_different_addresses_and_strides():
    body = """    int warp = threadIdx.x / 32;
    Left left; Right right; Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a + warp * 1024, ld + 8 * warp);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c + 512 * warp, sum, 16 + 4 * warp, wmma::mem_col_major);"""
    random = np.random.default_rng(0)
    a = random.integers(-4, 5, 3072).astype(np.float16)
    b = random.integers(-4, 5, 256).astype(np.float16)
    c = np.full(1536, -1, np.float32)
    run(compiled(source(body)), 1, 96, a, b, c, 16)
    for warp in range(3):
        apart, apart_c = 16 + 8 * warp, 16 + 4 * warp
        left = a[warp * 1024 :][: 16 * apart].reshape(16, apart)[:, :16].astype(float)
        got = c[512 * warp :][: 16 * apart_c].reshape(16, apart_c)[:, :16].T
        np.testing.assert_array_equal(got, left @ b.reshape(16, 16).astype(float))


@pytest.mark.parametrize(
    "places, what",
    [
        ({"a": "8"}, "begins at a[8], which is no multiple of 32 bytes"),
        ({"b": "1"}, "begins at b[1], which is no multiple of 32 bytes"),
        ({"c": "4"}, "store_matrix_sync a matrix that begins at c[4], which is no multiple of 32"),
    ],
)
def test_a_matrix_that_begins_at_no_multiple_of_its_alignment(places, what):
    told = found(product(**places), halves=512, floats=512)
    assert told.kind is FaultKind.MISALIGNED
    assert what in told.what


def test_lines_that_are_no_multiple_of_16_bytes_apart():
    told = found(product(), ld=20, halves=512)
    assert told.kind is FaultKind.MISALIGNED
    assert "rows that are 20 elements apart, 40 bytes" in told.what
    assert told.expected == "ldm is a multiple of 16 bytes, 8 elements of this type."


@pytest.mark.parametrize(
    "places, what",
    [
        ({"a": "16"}, r"reads a[256]; a has 256 elements"),
        ({"b": "32"}, r"reads b[256]; b has 256 elements"),
        ({"c": "16"}, r"writes c[256]; c has 256 elements"),
    ],
)
def test_a_tile_that_reaches_past_the_end_names_an_element_and_its_lane(places, what):
    told = found(product(**places))
    assert told.kind is FaultKind.OUT_OF_BOUNDS
    assert what in told.what
    assert told.thread[0] in range(16, 32)  # the lanes of the last rows
    assert "takes whole tiles" in told.advice


def test_shared_memory_that_nobody_has_written():
    body = PRODUCT.format(a="0", b="0", c="0").replace("a + 0", "tile")
    tile = "__shared__ __align__(32) half tile[256]; tile[threadIdx.x] = a[0]; __syncwarp();"
    told = found(compiled(source(f"    {tile}\n{body}")))
    assert told.kind is FaultKind.UNINITIALISED_READ
    assert "reads tile[16] (in words of 4 bytes)" in told.what


def test_warps_that_skip_it_as_a_whole_do_no_harm():
    kernel = product(before="    if (threadIdx.x / 32 != 1) return;\n")
    a, b, c = matrices()
    run(kernel, 1, 96, a, b, c, 16)
    assert (c == 16).all()
