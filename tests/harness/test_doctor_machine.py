"""The doctor knows the machines and installations on which lessons do not run as they should."""

import platform
import shutil
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from harness.commands import doctor_checks, doctor_compile
from harness.commands.doctor import Verdict

Usage = namedtuple("Usage", "total used free")


def only(findings, verdict=None):
    [finding] = [one for one in findings if verdict is None or one.verdict is verdict]
    return finding


def on(monkeypatch, system, machine, release="6.1.0"):
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(platform, "release", lambda: release)
    monkeypatch.setattr(doctor_checks, "is_wsl", lambda: "microsoft" in release)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_linux_is_fine(monkeypatch, tmp_path, machine):
    on(monkeypatch, "Linux", machine)
    assert next(iter(doctor_checks.system(tmp_path))).verdict is Verdict.OK


def test_macos_gets_the_line_that_starts_a_container(monkeypatch, tmp_path):
    on(monkeypatch, "Darwin", "arm64")
    finding = next(iter(doctor_checks.system(tmp_path)))
    assert finding.verdict is Verdict.PROBLEM
    assert "Triton and CuPy publish no wheels" in finding.said
    assert "docker run" in finding.advice


def test_windows_gets_sent_to_wsl2(monkeypatch, tmp_path):
    on(monkeypatch, "Windows", "AMD64")
    assert "wsl --install" in next(iter(doctor_checks.system(tmp_path))).advice


def test_wsl2_is_fine_and_told_which_driver_counts(monkeypatch, tmp_path):
    on(monkeypatch, "Linux", "x86_64", "5.15.0-microsoft-standard-WSL2")
    finding = next(iter(doctor_checks.system(tmp_path)))
    assert finding.verdict is Verdict.OK
    assert "install none here" in finding.said


def test_a_checkout_on_a_windows_disk_is_warned_about(monkeypatch):
    on(monkeypatch, "Linux", "x86_64", "5.15.0-microsoft-standard-WSL2")
    finding = only(doctor_checks.system(Path("/mnt/c/lessons")), Verdict.WARNING)
    assert "Windows disk" in finding.said


def test_wsl_is_known_by_its_kernel(tmp_path):
    kernel = tmp_path / "version"
    kernel.write_text("Linux version 5.15.90.1-microsoft-standard-WSL2")
    assert doctor_checks.is_wsl(kernel)
    kernel.write_text("Linux version 6.1.0-13-amd64")
    assert not doctor_checks.is_wsl(kernel)
    assert not doctor_checks.is_wsl(tmp_path / "absent")


@pytest.mark.parametrize(
    ("version", "verdict"),
    [
        ((3, 10), Verdict.PROBLEM),
        ((3, 11), Verdict.OK),
        ((3, 13), Verdict.OK),
        ((3, 15), Verdict.WARNING),
    ],
)
def test_a_python_outside_the_tested_range_is_said(monkeypatch, tmp_path, version, verdict):
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    assert list(doctor_checks.system(tmp_path))[-1].verdict is verdict


@pytest.fixture
def project(tmp_path):
    wanted = '["torch>=2.11", "cupy-cuda13x>=14.2", "colorama; sys_platform == \'win32\'"]'
    (tmp_path / "pyproject.toml").write_text(f"[project]\ndependencies = {wanted}\n")
    return tmp_path


def installed(monkeypatch, **versions):
    table = {name.replace("_", "-"): version for name, version in versions.items()}
    monkeypatch.setattr(doctor_checks, "version_of", table.get)


def test_a_build_of_torch_for_the_cpu_satisfies_the_project(monkeypatch, project):
    installed(monkeypatch, torch="2.13.0+cpu", cupy_cuda13x="14.2.0")
    finding = only(doctor_checks.packages(project))
    assert finding.said == "torch 2.13.0+cpu, cupy-cuda13x 14.2.0"


def test_a_missing_and_an_old_package_get_the_line_to_install_them(monkeypatch, project):
    installed(monkeypatch, torch="2.10.0")
    old, missing = doctor_checks.packages(project)
    assert old.said == "torch 2.10.0 does not satisfy >=2.11"
    assert old.advice == 'pip install --upgrade "torch>=2.11"'
    assert missing.said == "cupy-cuda13x is missing"
    assert missing.advice == 'pip install "cupy-cuda13x>=14.2"'


def test_a_package_that_one_command_needs_is_only_warned_about(monkeypatch, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\ndependencies = ['watchfiles>=1.1']\n")
    installed(monkeypatch)
    finding = only(doctor_checks.packages(tmp_path))
    assert finding.verdict is Verdict.WARNING
    assert "only `lesson watch` needs it" in finding.said


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        ({"cupy_cuda12x": "13.6.0", "cupy_cuda13x": "14.2.0"}, "overwrite each other"),
        ({"triton": "3.9.0", "pytorch_triton": "3.5.0"}, "same folder as triton"),
        ({"triton": "3.9.0", "torch": "2.11.0"}, "built for triton 3.6.0; 3.9.0 is installed"),
    ],
)
def test_a_combination_that_installs_and_then_fails_is_named(monkeypatch, project, versions, said):
    installed(monkeypatch, **versions)
    monkeypatch.setattr(
        doctor_checks, "triton_of_torch", lambda: "3.6.0" if "torch" in versions else None
    )
    assert said in only(doctor_checks.known_bad(project)).said


def test_a_good_combination_is_not_mentioned(monkeypatch, project):
    installed(monkeypatch, triton="3.6.0", torch="2.11.0", cupy_cuda13x="14.2.0")
    monkeypatch.setattr(doctor_checks, "triton_of_torch", lambda: "3.6.0")
    assert list(doctor_checks.known_bad(project)) == []


@pytest.mark.parametrize(
    ("name", "value", "verdict"),
    [
        ("TRITON_INTERPRET", "1", Verdict.PROBLEM),
        ("CUDA_LAUNCH_BLOCKING", "1", Verdict.WARNING),
        ("CUDA_VISIBLE_DEVICES", "", Verdict.WARNING),
    ],
)
def test_a_variable_that_changes_what_runs_is_named(monkeypatch, tmp_path, name, value, verdict):
    for other in ("TRITON_INTERPRET", "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(other, raising=False)
    assert list(doctor_checks.environment(tmp_path)) == []
    monkeypatch.setenv(name, value)
    finding = only(doctor_checks.environment(tmp_path))
    assert name in finding.said and finding.verdict is verdict
    assert finding.advice.startswith(f"unset {name}")


@pytest.mark.parametrize(
    ("free", "verdict"),
    [(2**34, Verdict.OK), (2**29, Verdict.WARNING), (2**20, Verdict.PROBLEM)],
)
def test_a_full_disk_is_said(monkeypatch, tmp_path, free, verdict):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(2**40, 0, free))
    assert only(doctor_checks.storage(tmp_path)).verdict is verdict


def test_a_folder_that_takes_no_file_is_a_problem(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor_checks, "_takes_a_file", lambda folder: False)
    finding = only(doctor_checks.storage(tmp_path))
    assert finding.verdict is Verdict.PROBLEM
    assert str(tmp_path) in finding.said


def test_missing_headers_name_the_packages_that_bring_them(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor_compile, "include_paths", lambda: (tmp_path,))
    findings = list(doctor_compile.headers(tmp_path))
    assert {finding.verdict for finding in findings} == {Verdict.PROBLEM}
    advice = {finding.said: finding.advice for finding in findings}
    assert "nvidia-cuda-crt" in advice["crt/mma.h not found"]
    assert "nvidia-cuda-cccl" in advice["cuda/std/cstdint not found"]


def test_headers_of_another_toolkit_are_a_problem(monkeypatch, tmp_path):
    for header in doctor_compile.HEADERS:
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).touch()
    (tmp_path / "cuda_runtime_api.h").write_text("#define CUDART_VERSION  12040\n")
    monkeypatch.setattr(doctor_compile, "include_paths", lambda: (tmp_path,))
    monkeypatch.setattr(doctor_compile, "metadata_version", lambda name: "13.5.37")
    finding = only(doctor_compile.headers(tmp_path), Verdict.PROBLEM)
    assert finding.said == "these headers are CUDA 12.4, the compiler is CUDA 13.5.37"
