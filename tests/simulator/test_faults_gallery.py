"""docs/faults.md shows every kind of fault as the simulator reports it today."""

import pytest

from simulator import FaultKind
from tests.simulator.programs.every import PROGRAMS
from tests.simulator.programs.gallery import COMMAND, PAGE, listing, page, report_of
from tests.simulator.programs.gallery_entries import ENTRIES, NOTES


def test_every_kind_of_fault_is_shown():
    assert {entry.kind for entry in ENTRIES} == set(FaultKind)


def test_every_program_with_a_note_has_its_kind_of_note_shown():
    assert all(PROGRAMS[entry.program].marked("noted") for entry in NOTES)


@pytest.mark.parametrize("entry", ENTRIES + NOTES, ids=lambda entry: entry.program)
def test_a_kernel_of_the_page_is_short(entry):
    assert len(listing(entry, PROGRAMS[entry.program]).splitlines()) <= 20


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.program)
def test_a_report_is_short_and_says_what_was_expected_and_what_to_try(entry):
    lines = report_of(entry).splitlines()
    assert len(lines) <= 25
    assert lines[0].startswith(entry.kind.value)
    assert any(line.startswith("  kernel.cu:") for line in lines)
    assert any(line.startswith("expected  ") for line in lines)
    assert any(line.startswith("try       ") for line in lines)


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == page(), f"docs/faults.md is out of date: run `{COMMAND}`"
