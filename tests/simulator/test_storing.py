"""A module that was read and translated is kept as bytes, and runs from them as it did."""

import numpy as np
import pytest

from simulator import Buffer, Pointer, launch, parse
from simulator.storing import decode, encode, programs_of
from simulator.translating import program
from tests.simulator.compiled import ptx_of
from tests.simulator.golden.stored import GOLDEN

STORED = sorted((*GOLDEN.glob("nvrtc_13_5/*.ptx"), *GOLDEN.glob("triton_3_9/*.ptx")))
TEXT = """
extern "C" __global__ void scaled(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.3f * expf(x[i]) + x[i];
}
extern "C" __global__ void other(int* y) { y[threadIdx.x] = 7; }
"""


def run(module):
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    y = np.zeros_like(x)
    pointers = [Pointer(Buffer(n, a.view(np.uint8), a.dtype)) for n, a in (("x", x), ("y", y))]
    launched = launch(module.entries["scaled"], (8, 1, 1), (128, 1, 1), [*pointers, np.int32(1000)])
    return y, launched


def test_results_counters_and_lines_are_the_same():
    module = parse(ptx_of(TEXT))
    expected, told = run(module)
    read = decode(encode(module))
    got, again = run(read)
    np.testing.assert_array_equal(got, expected)
    assert again.counters == told.counters
    assert again.lines == told.lines
    assert read.files == module.files


def test_what_was_translated_is_not_translated_again(monkeypatch):
    module = parse(ptx_of(TEXT))
    run(module)
    read = decode(encode(module))
    assert programs_of(read) == programs_of(module) > 0

    def translate(*arguments):
        raise AssertionError("translated again")

    monkeypatch.setattr(program, "Generator", translate)
    run(read)
    with pytest.raises(AssertionError, match="translated again"):  # nobody has launched it yet
        program.program_of(read.entries["other"])


def test_entries_share_the_variables_of_their_module():
    text = "__device__ int total;\n" + TEXT.replace("= 7", "= total")
    read = decode(encode(parse(ptx_of(text))))
    assert read.entries["scaled"].outside is read.entries["other"].outside


@pytest.mark.parametrize("stored", STORED, ids=lambda path: path.stem)
def test_every_stored_kernel_can_be_kept(stored):
    module = parse(stored.read_text(encoding="utf-8"))
    for entry in module.entries.values():
        program.program_of(entry)
    read = decode(encode(module))
    assert programs_of(read) == len(module.entries)
    for name, entry in module.entries.items():
        assert read.entries[name].instructions == entry.instructions


@pytest.mark.parametrize("place", [0, 40, 100, -1])
def test_damaged_bytes_read_as_none(place):
    data = bytearray(encode(parse(ptx_of(TEXT))))
    data[place] ^= 1
    assert decode(bytes(data)) is None


@pytest.mark.parametrize("length", [0, 10, 64, 1000])
def test_a_file_cut_short_reads_as_none(length):
    assert decode(encode(parse(ptx_of(TEXT)))[:length]) is None


def test_bytes_of_other_sources_read_as_none(monkeypatch):
    data = encode(parse(ptx_of(TEXT)))
    monkeypatch.setattr("simulator.storing.fingerprint", lambda: bytes(32))
    assert decode(data) is None
