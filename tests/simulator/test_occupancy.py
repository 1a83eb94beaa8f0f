"""Occupancy equals NVIDIA's header at every recorded point, and errors say what is wrong.

The points are in occupancy/<architecture>.csv; benchmarks/record_occupancy.py records them.
"""

import csv
import re
from functools import cache
from pathlib import Path

import pytest

from references.hardware import GPUS
from simulator.occupancy import ARCHITECTURES, Resource, architecture_of, occupancy

FOLDER = Path(__file__).with_name("occupancy")
# Of the header's limitingFactors.
BITS = {
    Resource.WARPS: 1,
    Resource.REGISTERS: 2,
    Resource.SHARED_MEMORY: 4,
    Resource.BLOCKS: 8,
    Resource.BARRIERS: 16,
}


@cache
def recorded(name):
    """(the device's limits, [(arguments, the header's answer)]); the names are the header's."""
    with (FOLDER / f"{name}.csv").open() as file:
        origin, limits = next(file), next(file)
        assert re.match(r"# cuda_occupancy.h of nvidia-cuda-runtime 13\.", origin)
        rows = [
            {key: int(value) if value else None for key, value in row.items()}
            for row in csv.DictReader(file)
        ]
    asked = ("threads", "registers", "static_shared", "dynamic_shared", "carveout", "barriers")
    points = []
    for row in rows:
        arguments = {key: row[key] for key in asked}
        arguments["carveout"] = None if row["carveout"] == -1 else row["carveout"]
        points.append((arguments, row))
    return dict(re.findall(r"(\w+)=(\d+)", limits)), points


def header_s_factors(got):
    """limitingFactors as the header sets them: the other limits before it looks at barriers."""
    others = {r: n for r, n in got.allows.items() if r is not Resource.BARRIERS and n is not None}
    limiting = {r for r, n in others.items() if n == min(others.values())}
    if Resource.BARRIERS in got.limited_by:
        limiting.add(Resource.BARRIERS)
    else:
        assert limiting == set(got.limited_by)
    return sum(BITS[resource] for resource in limiting)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_recorded_point_equals_the_header(name):
    limits, points = recorded(name)
    refused = 0
    for arguments, row in points:
        if row["error"]:
            with pytest.raises(ValueError):
                occupancy(name, **arguments)
            refused += 1
            continue
        if arguments["registers"] == 256:  # no instruction names so many: see below
            continue
        got = occupancy(name, **arguments)
        allows = {resource: got.allows[resource] for resource in Resource}
        assert allows == {
            Resource.WARPS: row["warps_allow"],
            Resource.REGISTERS: row["registers_allow"],
            Resource.SHARED_MEMORY: row["shared_allows"],
            Resource.BLOCKS: row["blocks_allow"],
            Resource.BARRIERS: row["barriers_allow"],
        }, arguments
        assert got.blocks == row["blocks"], arguments
        assert header_s_factors(got) == row["factors"], arguments
        assert got.registers_per_block == row["registers_allocated"], arguments
        assert got.shared_bytes_per_block == row["shared_allocated"], arguments
        assert got.warps == got.blocks * -(-arguments["threads"] // 32)
        assert got.fraction == got.warps * 32 / int(limits["threads_per_sm"])
    assert refused == 5
    assert len(points) == 600


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_limits_are_the_header_s(name):
    limits, sm = recorded(name)[0], ARCHITECTURES[name]
    assert {
        "threads_per_sm": str(sm.threads_per_sm),
        "blocks_per_sm": str(sm.blocks_per_sm),
        "shared_bytes_per_sm": str(sm.shared_bytes_per_sm),
        "shared_bytes_per_block": str(sm.shared_bytes_per_block),
        "reserved_shared_bytes": str(sm.reserved_shared_bytes),
        "registers_per_sm": "65536",
    } == limits


def test_the_recordings_are_many_and_of_all_kinds():
    answers = [row for name in ARCHITECTURES for _, row in recorded(name)[1]]
    assert len(answers) >= 6000
    running = [row for row in answers if row["blocks"]]
    for bit in BITS.values():
        assert sum(row["factors"] & bit > 0 for row in running) > 100
    assert sum(row["blocks"] == 0 for row in answers) > 500
    assert sum(row["error"] != 0 for row in answers) == 60


def test_256_registers_are_none_that_a_thread_can_have():
    """The header lets them pass, as it counts what is allocated, and 255 are allocated as 256."""
    for name in ARCHITECTURES:
        for arguments, row in recorded(name)[1]:
            if arguments["registers"] == 256 and not row["error"]:
                below = occupancy(name, **{**arguments, "registers": 255})
                assert below.blocks == row["blocks"]
                got = occupancy(name, **arguments)
                assert got.blocks == 0
                assert Resource.REGISTERS in got.limited_by


@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_the_hardware_figures_agree(gpu):
    major, minor = gpu.compute_capability
    sm = ARCHITECTURES[f"sm_{major}{minor}"]
    assert (gpu.warps_per_sm, gpu.blocks_per_sm) == (sm.warps_per_sm, sm.blocks_per_sm)
    assert gpu.shared_bytes_per_sm == sm.shared_bytes_per_sm
    assert gpu.shared_bytes_per_block == sm.shared_bytes_per_block


def test_a_learner_is_told_what_each_resource_allows():
    got = occupancy("sm_90", 256, 72, 0, 40_000)
    assert str(got) == (
        "3 blocks an SM: registers allow 3, shared memory 5, warps 8, block slots 32"
    )
    assert got.limited_by == (Resource.REGISTERS,)
    assert (got.blocks, got.warps, got.fraction) == (3, 24, 0.375)
    one = occupancy("sm_90", 64, 16, 0, 200 * 1024)
    assert str(one).startswith("1 block an SM: shared memory allows 1, ")


def test_all_resources_that_tie_are_named():
    got = occupancy("sm_80", 1024, 32, 0, 80 * 1024)
    assert got.limited_by == (Resource.WARPS, Resource.REGISTERS, Resource.SHARED_MEMORY)


@pytest.mark.parametrize(
    ("registers", "blocks"), [(80, 24), (88, 20), (104, 16), (152, 12), (192, 8)]
)
def test_registers_lie_in_one_sub_partition_each(registers, blocks):
    """65,536 registers over those of a block would allow more: 25, 23, 19, 13, 10."""
    assert occupancy("sm_90", 32, registers, 0, 0).blocks == blocks


def test_a_carve_out_is_rounded_up_to_a_size_there_is_and_yields_to_one_block():
    chosen = [occupancy("sm_90", 32, 0, 0, 0, c) for c in (0, 1, 4, 43, 100)]
    sizes = [one.shared_bytes_per_sm >> 10 for one in chosen]
    assert sizes == [8, 8, 16, 100, 228]  # 0 KiB would not hold the KiB that each block needs
    assert occupancy("sm_90", 32, 0, 0, 50_000, 0).shared_bytes_per_sm == 64 * 1024
    assert occupancy("sm_90", 32, 0, 0, 50_000, 0).blocks == 1


def test_more_of_anything_never_makes_more_blocks():
    for name in ARCHITECTURES:
        for threads in (32, 96, 256, 800):
            for column in (
                [occupancy(name, threads, r, 0, 0).blocks for r in range(1, 258)],
                [occupancy(name, threads, 32, 0, s).blocks for s in range(0, 240_000, 500)],
                [occupancy(name, t, 40, 0, 1000).blocks for t in range(1, 1100)],
            ):
                assert column == sorted(column, reverse=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"architecture": "sm_42"}, "'sm_42' is no architecture known here: sm_75, sm_80"),
        ({"architecture": "compute_90"}, "'compute_90' is no architecture"),
        ({"threads": 0}, "0 threads a block"),
        ({"registers": -1}, "-1 registers"),
        ({"static_shared": -4}, "-4 bytes of static shared memory"),
        ({"dynamic_shared": -4}, "-4 bytes of dynamic shared memory"),
        ({"carveout": 101}, "a carve-out of 101 per cent"),
        ({"carveout": -1}, "a carve-out of -1 per cent"),
        ({"barriers": 17}, "17 barriers a block: there are 16"),
        ({"barriers": -1}, "-1 barriers"),
    ],
)
def test_numbers_that_mean_nothing_are_refused_by_name(changes, said):
    plain = {
        "architecture": "sm_90",
        "threads": 32,
        "registers": 32,
        "static_shared": 0,
        "dynamic_shared": 0,
    }
    with pytest.raises(ValueError, match=re.escape(said)):
        occupancy(**{**plain, **changes})


def test_what_the_suffixes_allow_changes_no_limit():
    assert architecture_of("sm_90a") is architecture_of("sm_90")
    assert architecture_of("sm_120f") is architecture_of("sm_120")
