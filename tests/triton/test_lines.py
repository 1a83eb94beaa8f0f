"""Every access of compiled Triton belongs to a line of the learner's, through all inlined calls."""

import inspect

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401  (registers the driver)
from harness.judging.profiling import KernelProfile
from harness.launching.launch_settings import changed
from harness.launching.recording import recording
from simulator import KernelFault, frames_of, parse
from tests.triton.cases import cases
from tests.triton.programs import other_file
from tests.triton.programs.other_file import loaded

FIRST_OF_EACH_SUBJECT = {case.subject: case for case in reversed(cases())}
MEMORY = (
    "global_load_requests", "global_store_requests", "atomic_requests",
    "shared_load_requests", "shared_store_requests", "mma",
)  # fmt: skip

KERNEL, STANDARD = "/home/learner/kernel.py", "/lib/triton/language/standard.py"
HEAD = ".visible .entry k(.param .u64 k_0)\n{\n.reg .b32 %r<9>;\n"
FILES = f'.file 1 "{KERNEL}"\n.file 2 "{STANDARD}"\n'


def lines_of(body, files=FILES, learners=lambda name: "triton" not in name):
    """Of each instruction of a body, the frames that lead to it."""
    entry = parse(f"{HEAD}.loc 1 10 0\n{body}\nret;\n}}\n{files}", learners).entries["k"]
    return [i.line.frames for i in entry.instructions[:-1]]


def own(*lines):
    return tuple(("", line) for line in lines)


def test_the_chain_of_inlined_at_is_followed_through_its_own_directives():
    body = """
    .loc 1 15 9
    .loc 1 8 9, function_name $L__info_string0, inlined_at 1 15 9
    .loc 1 4 12, function_name $L__info_string0, inlined_at 1 8 9
    mov.u32 %r1, 1;
    .loc 2 314 12, function_name $L__info_string0, inlined_at 1 16 9
    .loc 2 287 12, function_name $L__info_string0, inlined_at 2 314 12
    mov.u32 %r2, 2;"""
    assert lines_of(body) == [own(4, 8, 15), own(16)]


def test_the_chain_in_a_comment_says_the_same():
    body = """
    .loc 1 4 41     // kernel.py:4:41 @[ kernel.py:8:25 @[ kernel.py:15:23 ] ]
    mov.u32 %r1, 1;
    .loc 2 263 15   // standard.py:263:15 @[ standard.py:293:36 @[ kernel.py:16:18 ] ]
    mov.u32 %r2, 2;"""
    assert lines_of(body) == [own(4, 8, 15), own(16)]


@pytest.mark.parametrize("comment", ["", " // kernel.py:0:0"])
def test_a_directive_without_a_line_changes_nothing(comment):
    body = f".loc 1 12 3\nmov.u32 %r1, 1;\n.loc 1 0 0{comment}\nmov.u32 %r2, 2;"
    assert lines_of(body) == [own(12), own(12)]


def test_a_learners_file_called_as_one_of_tritons_keeps_the_calling_line():
    files = FILES.replace(KERNEL, "/home/learner/standard.py")
    body = """
    .loc 2 263 15   // standard.py:263:15 @[ standard.py:293:36 @[ standard.py:16:18 ] ]
    mov.u32 %r1, 1;
    .loc 1 5 15     // standard.py:5:15 @[ standard.py:18:3 ]
    mov.u32 %r2, 2;"""
    assert lines_of(body, files) == [own(16), own(5, 18)]


def test_a_function_of_another_file_of_the_learners_is_told_with_that_file():
    files = f'{FILES}.file 3 "/home/learner/norms.py"\n'
    body = ".loc 1 15 9\n.loc 3 7 2, function_name $L, inlined_at 1 15 9\nmov.u32 %r1, 1;"
    assert lines_of(body, files) == [(("/home/learner/norms.py", 7), ("", 15))]
    assert int(parse(f"{HEAD}.loc 1 10 0\n{body}\n}}\n{files}", lambda _: True)
               .entries["k"].instructions[0].line) == 15  # fmt: skip


def test_later_lines_of_inline_assembly_belong_to_the_line_that_holds_it():
    body = """
    .loc 1 7 19
    // begin inline asm
    .loc 1 7 19
    mov.u32 %r1, 0x0;
    .loc 1 8 19
    mov.u32 %r2, 0x1;
    // end inline asm
    add.s32 %r3, %r1, %r2;
    .loc 1 9 1
    mov.u32 %r4, 1;"""
    assert lines_of(body) == [own(7), own(7), own(7), own(9)]


@pytest.mark.parametrize("subject", FIRST_OF_EACH_SUBJECT)
def test_every_access_has_a_line_with_code_on_it(subject):
    case = FIRST_OF_EACH_SUBJECT[subject]
    with recording() as launches, changed(counters=True):
        case.run(case.made())
    assert launches
    for launch in launches:
        code = launch.path.read_text().splitlines()
        counted = {
            line for line, one in launch.launched.lines.items()
            if any(getattr(one, name, 0) for name in MEMORY)
        }  # fmt: skip
        assert counted and 0 not in counted
        for path in launch.launched.paths:
            for frame in path:
                assert code[frame.line - 1].strip(), "an empty line"


@triton.jit
def _doubled(x, offsets):
    return 2 * tl.load(x + offsets)


@triton.jit
def calls_twice(x, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    first = _doubled(x, offsets)
    second = _doubled(x + BLOCK, offsets) + tl.load(x + 2 * BLOCK + offsets)
    tl.store(y + offsets, first + second)


def test_counters_of_a_function_stand_at_its_line_and_at_each_call():
    with recording() as launches, changed(counters=True):
        calls_twice[(1,)](torch.ones(384), torch.zeros(128), BLOCK=128)
    profile = KernelProfile("calls_twice", tuple(launches))
    assert profile.line("2 * tl.load(x + offsets)").global_load_requests == 8
    assert profile.line("first = _doubled").global_load_requests == 4
    assert profile.line("second = _doubled").global_load_requests == 8
    assert profile.line("_doubled(x").global_load_requests == 12
    assert profile.counters.global_load_requests == 12


@triton.jit
def sums_and_maxima(x, y, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK))
    total = tl.sum(value, axis=0)
    largest = tl.max(value, axis=0)
    tl.store(y, total / largest)


def test_tritons_own_functions_count_for_the_line_that_calls_them():
    with recording() as launches, changed(counters=True):
        sums_and_maxima[(1,)](torch.ones(128), torch.zeros(1), BLOCK=128)
    profile = KernelProfile("sums_and_maxima", tuple(launches))
    first = inspect.getsourcelines(sums_and_maxima.fn)[1] + 2
    assert set(profile.lines) <= {0, *range(first - 1, first + 4)}
    assert profile.line("tl.sum").shuffles == profile.line("tl.max").shuffles > 0


@triton.jit
def through_another_file(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, loaded(x, offsets), mask=offsets < 40)


def test_a_fault_in_another_file_shows_its_line_and_the_calling_one():
    with pytest.raises(KernelFault) as raised:
        through_another_file[(2,)](torch.ones(40), torch.zeros(40), BLOCK=32)
    line = inspect.getsourcelines(other_file.loaded.fn)[1] + 2
    call = inspect.getsourcelines(through_another_file.fn)[1] + 3
    report = raised.value.learner_report
    assert f"other_file.py:{line}    return tl.load(x + offsets)" in report
    assert f"called from tests/triton/test_lines.py:{call}" in report.replace("\n  ", "\n")
    assert [frame.line for frame in frames_of(raised.value.line)] == [line, call]
