"""The stored PTX itself: whole, readable, of both compilers, and nothing in it is unknown.

What its kernels compute is told by the other files called `test_golden_*`.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from simulator import UnknownInstruction, parse
from simulator.instructions.opcodes import operation
from simulator.reading.operands import destinations
from simulator.translating.program import program_of
from simulator.translating.statements import STATEMENTS
from tests.simulator.compiled import Kernel, run
from tests.simulator.golden.stored import GOLDEN, SOURCES, VERSIONS, module, text_of

BUDGET = 3_200_000  # bytes of all stored text


def functions_of(entry):
    return (entry, *entry.functions)


def opcodes(version):
    """(opcode, number of destinations) of every instruction that is stored."""
    found = set()
    for source in SOURCES:
        for entry in module(version, source).entries.values():
            for function in functions_of(entry):
                for one in function.instructions:
                    targets = destinations(one.operands[0]) if one.operands else ()
                    found.add((one.opcode, len(targets)))
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_every_source_is_stored_as_its_compiler_wrote_it(version):
    folder = GOLDEN / f"nvrtc_{version}"
    assert sorted(path.stem for path in folder.glob("*.ptx")) == SOURCES
    for source in SOURCES:
        text = text_of(version, source)
        assert f"release {version.replace('_', '.')}" in text
        assert ".target sm_80" in text
        assert set(re.findall(r'^\s*\.file\s+1\s+"(.*)"', text, re.M)) == {f"{source}.cu"}
        assert not re.findall(r'^\s*\.file\s+\d+\s+".*[/\\].*"', text, re.M)


def test_the_stored_text_stays_small():
    assert len(SOURCES) >= 36
    sizes = [path.stat().st_size for path in GOLDEN.glob("nvrtc_*/*.ptx")]
    assert sum(sizes) <= BUDGET


@pytest.mark.parametrize("version", VERSIONS)
def test_the_table_knows_every_opcode(version):
    found = opcodes(version)
    assert len(found) > 400
    unknown = []
    for opcode, targets in sorted(found):
        if opcode.split(".")[0] in STATEMENTS or opcode.split(".")[0] in ("bra", "ret", "exit"):
            continue  # the test below translates them
        try:
            operation(opcode, targets)
        except UnknownInstruction:
            unknown.append(opcode)
    assert not unknown


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_kernel_can_be_translated(version, source):
    for entry in module(version, source).entries.values():
        program_of(entry)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_kernel_is_run_by_a_test(version):
    """Each test names the kernels that it runs as source/entry, some with a part filled in."""
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_golden_*.py"))
    named = {re.sub(r"\{.*?\}", "*", name) for name in re.findall(r'"([\w{}]+/[\w{}]+)"', tests)}
    patterns = [re.compile(name.replace("*", r"\w+")) for name in named]
    for source in SOURCES:
        for name in module(version, source).entries:
            assert any(p.fullmatch(f"{source}/{name}") for p in patterns), (
                f"{source}/{name} is never run"
            )


def with_a_line_of_its_own(instruction):
    """A stored kernel with one more instruction, at line 34 of the learner's file."""
    text = text_of(VERSIONS[-1], "clocks")
    assert text.count("\n\tret;") == 2
    return text.replace("\n\tret;", f"\n\t.loc 1 34 3\n\t{instruction};\n\tret;", 1)


def test_an_unknown_opcode_names_itself_and_the_line():
    entry = parse(with_a_line_of_its_own("foo.bar.u32 %r1, %r1")).entries["clocks"]
    with pytest.raises(UnknownInstruction, match=r"foo\.bar\.u32") as caught:
        run(
            Kernel("", entry, ()),
            1,
            32,
            np.zeros(32, np.float32),
            np.zeros((4, 32), np.int64),
            np.zeros(32, np.float32),
            32,
        )
    assert caught.value.line == 34
    assert caught.value.opcode == "foo.bar.u32"


def test_a_known_opcode_at_the_same_place_runs():
    entry = parse(with_a_line_of_its_own("mov.u32 %r1, 5")).entries["clocks"]
    z = np.full(32, np.nan, np.float32)
    run(Kernel("", entry, ()), 1, 32, np.zeros(32, np.float32), np.zeros((4, 32), np.int64), z, 32)
    assert not np.isnan(z).any()
