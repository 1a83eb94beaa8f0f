"""printf, assert and trap from a kernel."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, run


def printed(format_, *arguments, threads=1, guard="true"):
    text = "".join(f", {a}" for a in arguments)
    kernel = compiled(
        f"""extern "C" __global__ void say(int n)
{{
    int t = threadIdx.x;
    if ({guard}) printf("{format_}"{text});
}}"""
    )
    return run(kernel, 1, threads, 3).output


@pytest.mark.parametrize(
    ("format_", "arguments", "want"),
    [
        ("plain\\n", (), "plain\n"),
        ("%d %d|", ("n", "-n"), "3 -3|"),
        ("%u", ("-1",), "4294967295"),
        ("%x %X %08x %o", ("255", "255", "-2", "8"), "ff FF fffffffe 10"),
        ("%f", ("1.5f * n",), "4.500000"),
        ("%5.2f|%-7.1f|%+g", ("3.14159", "2.25f", "1e10"), " 3.14|2.2    |+1e+10"),
        ("%e", ("12345.678",), "1.234568e+04"),
        (
            "%lld %llu %ld",
            ("-5000000000LL * n", "1ULL << 63", "7L"),
            "-15000000000 9223372036854775808 7",
        ),
        ("%s and %s", ('"left"', 'n > 2 ? "right" : "wrong"'), "left and right"),
        ("%c%c", ("'a' + n", "10"), "d\n"),
        ("100%%", (), "100%"),
        ("%d %f %d %s %lld", ("1", "2.5", "3", '"four"', "5LL"), "1 2.500000 3 four 5"),
        ("%3d|%-3d|%03d", ("5", "5", "5"), "  5|5  |005"),
        ("%f %f", ("1.0 / 0.0", "-1.0 / 0.0"), "inf -inf"),
        ("%hd %hhu", ("(short)-2", "(unsigned char)200"), "-2 200"),
        ("%*d|%-*d|%*d", ("6", "42", "6", "42", "-6", "42"), "    42|42    |42    "),
        (
            "%.*f|%*.*f|%.*f",
            ("2", "3.14159", "9", "3", "2.71828", "-1", "0.5"),
            "3.14|    2.718|0.500000",
        ),
        ("%.f|%.3d|%*s", ("2.6", "7", "5", '"ab"'), "3|007|   ab"),
        ("a {b} \\\\ ; // c /* d */", (), "a {b} \\ ; // c /* d */"),
    ],
)
def test_formats_are_those_of_c(format_, arguments, want):
    assert printed(format_, *arguments) == want


def test_lanes_print_in_the_order_of_their_threads():
    assert printed("%d ", "t", threads=40, guard="t % 3 == 0") == "".join(
        f"{t} " for t in range(0, 40, 3)
    )


def test_blocks_print_one_after_another():
    kernel = compiled(
        """extern "C" __global__ void say()
{
    if (threadIdx.x == 0) printf("block %d of %d\\n", blockIdx.x, gridDim.x);
}"""
    )
    assert run(kernel, 3, 64).output == "block 0 of 3\nblock 1 of 3\nblock 2 of 3\n"
    assert run(kernel, 3, 64, order="reversed").output.startswith("block 2 of 3\n")


def test_what_was_printed_before_a_fault_is_kept():
    kernel = compiled(
        """extern "C" __global__ void say(int* y)
{
    printf("index %d\\n", 1000);
    y[1000] = 1;
}"""
    )
    assert fault(kernel, 1, 1, np.zeros(4, np.int32)).output == "index 1000\n"


def test_a_flood_is_cut():
    kernel = compiled(
        """extern "C" __global__ void say(int n)
{
    for (int k = 0; k < n; ++k) printf("%0100d\\n", k);
}"""
    )
    output = run(kernel, 1, 32, 1000).output
    assert 1 << 20 < len(output) < (1 << 20) + 500
    assert "the rest is left out" in output


def test_assert_names_condition_thread_and_line():
    kernel = compiled(
        """extern "C" __global__ void check(const int* x, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(x[i] != 0);
    y[i] = 100 / x[i];
}"""
    )
    x, y = np.ones(96, np.int32), np.zeros(96, np.int32)
    run(kernel, 3, 32, x, y)
    assert (y == 100).all()
    x[70] = 0
    found = fault(kernel, 3, 32, x, y)
    assert found.kind is FaultKind.ASSERTION
    assert found.what == "assert(x[i] != 0) fails in thread 6 of block 2"
    assert (found.line, found.thread, found.block) == (kernel.line("assert("), (6, 0, 0), (2, 0, 0))


def test_trap_stops_the_kernel():
    kernel = compiled(
        """extern "C" __global__ void stop(const int* x)
{
    if (x[threadIdx.x] > 5)
        __trap();
}"""
    )
    run(kernel, 1, 32, np.zeros(32, np.int32))
    found = fault(kernel, 1, 32, np.arange(32, dtype=np.int32))
    assert found.kind is FaultKind.TRAP
    assert "thread 6 of block 0" in found.what
    assert found.line in (kernel.line("__trap()"), kernel.line("if (x"))
