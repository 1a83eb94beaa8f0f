"""benchmarks/README.md shows what benchmarks/results/gpu.json recorded."""

import pytest

from benchmarks import gpu_table

RECORDING = gpu_table.read_recording()


def test_the_page_holds_the_table_of_the_recording():
    page = gpu_table.PAGE.read_text(encoding="utf-8")
    assert gpu_table.with_table(page, RECORDING) == page, "run: python benchmarks/gpu.py --table"


def test_the_page_names_the_device_and_the_version_of_the_recording():
    page = gpu_table.PAGE.read_text(encoding="utf-8")
    assert f"{RECORDING['device']}, torch {RECORDING['versions']['torch']}" in page


def test_a_row_gives_times_and_ratios_as_they_were_recorded():
    row = {"lesson": 4, "name": "copy", "shape": "2^27 float32", "milliseconds": 0.25164,
           "peer": "copy_", "peer_milliseconds": 0.26, "of_peer": 1.0332, "of_floor": 0.998,
           "peer_of_floor": 0.966}  # fmt: skip
    assert gpu_table.table({"rows": [row]})[2:] == [
        "| 04 | copy | 2^27 float32 | 0.252 | copy_, 0.260 | 1.033 | 1.00 | 0.97 |"
    ]


def test_a_row_that_failed_stays_visible():
    row = {"lesson": 9, "name": "gemm", "error": "wrong by 3\nand more"}
    assert "| 09 | gemm |  | failed: wrong by 3 |" in gpu_table.table({"rows": [row]})[2]


def test_only_the_table_of_the_page_is_replaced():
    page = "before\n\n" + "\n".join(gpu_table.HEAD) + "\n| old |\n\nafter\n\n| another |\n"
    made = gpu_table.with_table(page, {"rows": []})
    assert made == "before\n\n" + "\n".join(gpu_table.HEAD) + "\n\nafter\n\n| another |\n"
    with pytest.raises(ValueError, match="no table"):
        gpu_table.with_table("nothing", {"rows": []})
