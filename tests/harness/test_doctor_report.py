"""The doctor reports every check in one line, with what to do, and ends with a status."""

import io

import pytest
from rich.console import Console

from harness.commands.doctor import Finding, Verdict, examine, ok, problem, show, warning
from harness.commands.doctor_checks import checks


def shown(*findings):
    out = io.StringIO()
    status = show(findings, Console(file=out, width=40))
    return status, out.getvalue()


def test_a_machine_without_problems_is_ready():
    assert shown(ok("disk", "10 GiB free")) == (0, "ok       disk         10 GiB free\n\nReady\n")


def test_a_warning_is_no_problem():
    status, text = shown(warning("disk", "small", "buy a larger one"))
    assert status == 0
    assert "buy a larger one" in text
    assert text.endswith("Ready, with 1 warning\n")


def test_a_problem_ends_with_status_1_and_says_what_to_do():
    status, text = shown(problem("disk", "full", "delete something\nor buy"), ok("cpu", "fine"))
    assert status == 1
    assert "delete something\n" in text and "or buy\n" in text
    assert text.endswith("1 problem to mend, 0 warnings\n")


def test_square_brackets_are_printed_as_they_are():
    assert "cuda-toolkit[nvrtc]" in shown(problem("a", "no cuda-toolkit[nvrtc]", "b"))[1]


def test_a_line_is_not_broken_at_the_width_of_the_terminal():
    assert "x" * 90 in shown(ok("path", "x" * 90))[1]


def test_a_check_that_fails_itself_is_a_problem_and_the_others_still_run(tmp_path):
    def disk_speed(_):
        raise RuntimeError("no such disk\nmore")

    findings = list(examine([disk_speed, lambda _: [ok("cpu", "fine")]], tmp_path))
    assert [finding.verdict for finding in findings] == [Verdict.PROBLEM, Verdict.OK]
    assert findings[0].subject == "disk speed"
    assert "RuntimeError: no such disk" in findings[0].said


@pytest.mark.parametrize("make", [warning, problem])
def test_a_finding_without_advice_cannot_be_made(make):
    with pytest.raises(TypeError):
        make("disk", "full")


def test_this_machine_is_examined_without_a_check_failing_itself(pytestconfig):
    findings = list(examine(checks(), pytestconfig.rootpath))
    assert not [finding for finding in findings if "check itself failed" in finding.said]
    assert {"system", "Python", "folder", "CUDA C++", "simulator", "runs"} <= {
        finding.subject for finding in findings
    }
    assert all(isinstance(finding, Finding) for finding in findings)
