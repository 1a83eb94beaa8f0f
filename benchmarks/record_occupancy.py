"""Record what NVIDIA's own headers say of occupancy: tests/simulator/occupancy/<architecture>.csv.

    python benchmarks/record_occupancy.py [--output FOLDER]

Needs a C++ compiler and the CUDA headers of the wheels (nvidia-cuda-runtime, nvidia-cuda-cccl), no
GPU. The formula is `cuda_occupancy.h`; the limits that it asks of a device come from
`arch_traits.h`. Nothing of the simulator is used, so that the two can be compared.

Points for each architecture, the same in each recording: beside every step of every limit, odd
numbers of threads, each carve-out, several barriers, launches that are refused, input that is
rejected, and random ones.
"""

import argparse
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from harness.launching.include_paths import include_paths

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURES = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)
KIB = 1 << 10
_POINTS = 600  # of each architecture
_INPUTS = "threads,registers,static_shared,dynamic_shared,carveout,barriers"
_OUTPUTS = (
    "error,blocks,factors,registers_allow,shared_allows,warps_allow,blocks_allow,barriers_allow,"
    "registers_allocated,shared_allocated"
)

# Reads an architecture and its points; prints the device's limits, then a line for each point.
_PROGRAM = r"""
#include <climits>
#include <cstdio>
#include <cuda/devices>
#include <cuda_occupancy.h>

static void print(int value)  // nothing where there is no such limit
{
    if (value == INT_MAX) std::printf(",");
    else std::printf(",%d", value);
}

static cuda::arch_traits_t traits_of(int architecture)
{
    switch (architecture) {
        CASES
    }
    return {};
}

int main()
{
    int architecture;
    if (std::scanf("%d", &architecture) != 1) return 1;
    const auto traits = traits_of(architecture);
    cudaOccDeviceProp device;
    device.computeMajor = traits.compute_capability_major;
    device.computeMinor = traits.compute_capability_minor;
    device.maxThreadsPerBlock = traits.max_threads_per_block;
    device.maxThreadsPerMultiprocessor = traits.max_threads_per_multiprocessor;
    device.regsPerBlock = traits.max_registers_per_block;
    device.regsPerMultiprocessor = traits.max_registers_per_multiprocessor;
    device.warpSize = traits.warp_size;
    device.sharedMemPerBlock = traits.max_shared_memory_per_block;
    device.sharedMemPerMultiprocessor = traits.max_shared_memory_per_multiprocessor;
    device.numSms = 1;
    device.sharedMemPerBlockOptin = traits.max_shared_memory_per_block_optin;
    device.reservedSharedMemPerBlock = traits.reserved_shared_memory_per_block;
    std::printf("threads_per_sm=%d blocks_per_sm=%d shared_bytes_per_sm=%d"
                " shared_bytes_per_block=%d reserved_shared_bytes=%d registers_per_sm=%d\n",
                device.maxThreadsPerMultiprocessor, traits.max_blocks_per_multiprocessor,
                (int)device.sharedMemPerMultiprocessor, (int)device.sharedMemPerBlockOptin,
                (int)device.reservedSharedMemPerBlock, device.regsPerMultiprocessor);

    int threads, registers, fixed, dynamic, carveout, barriers;
    while (std::scanf("%d,%d,%d,%d,%d,%d", &threads, &registers, &fixed, &dynamic, &carveout,
                      &barriers) == 6) {
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = INT_MAX;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = fixed;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;  // all that static memory leaves
        kernel.maxDynamicSharedSizeBytes =
            fixed < (int)device.sharedMemPerBlockOptin ? device.sharedMemPerBlockOptin - fixed : 0;
        kernel.numBlockBarriers = barriers;
        cudaOccDeviceState state;
        state.carveoutConfig = carveout;
        cudaOccResult result = {};
        cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
            &result, &device, &kernel, &state, threads, dynamic);
        std::printf("%d,%d,%d,%d,%d,%d,%d", threads, registers, fixed, dynamic, carveout, barriers,
                    (int)error);
        if (error == CUDA_OCC_SUCCESS) {
            std::printf(",%d,%u", result.activeBlocksPerMultiprocessor, result.limitingFactors);
            print(result.blockLimitRegs);
            print(result.blockLimitSharedMem);
            print(result.blockLimitWarps);
            print(result.blockLimitBlocks);
            print(result.blockLimitBarriers);
            std::printf(",%d,%d", result.allocatedRegistersPerBlock,
                        (int)result.allocatedSharedMemPerBlock);
        }
        std::printf("\n");
    }
}
"""

_THREADS = (1, 31, 32, 33, 64, 96, 97, 127, 128, 129, 160, 192, 255, 256, 257, 320, 384, 416, 480)
_THREADS += (511, 512, 513, 544, 640, 672, 736, 768, 769, 800, 864, 896, 992, 993, 1023, 1024, 1025)
_CARVEOUTS_KIB = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)
Point = tuple[int, int, int, int, int, int]


def points(architecture: int, shared_per_sm: int) -> list[Point]:
    """The points of an architecture, none twice, in an order that makes rows easy to compare."""
    numbers = random.Random(architecture)
    found = dict.fromkeys(_near_every_step(numbers, shared_per_sm))
    while len(found) < _POINTS:
        found[_anywhere(numbers, shared_per_sm)] = None
    return sorted(found)


def _near_every_step(numbers: random.Random, shared_per_sm: int) -> Iterator[Point]:
    optin = shared_per_sm - KIB
    for threads in _THREADS:  # registers: allocated in eights a thread, by sub-partition
        yield threads, 0, 0, 0, -1, 0
        most = min(32, 65_536 // threads // 8 + 1)  # eights: where no block fits any more
        for step in numbers.sample(range(1, most + 1), min(3, most)):
            for registers in (8 * step, 8 * step + 1):
                yield threads, registers, 0, 0, -1, 0
    for warps in range(1, 33):  # the last register count that a whole block may have, and the next
        for most in (65_536 // (32 * warps), 65_536 // (32 * (-(-warps // 4) * 4))):
            yield 32 * warps, min(most // 8 * 8, 255), 0, 0, -1, 0
            yield 32 * warps, min(most // 8 * 8 + 1, 257), 0, 0, -1, 0
    for blocks in (*range(1, 12), 14, 16, 20, 24, 32):  # shared memory: as many blocks as just fit
        for reserved in (0, KIB):
            most = max(0, shared_per_sm // blocks // 256 * 256 - reserved)
            for bytes_a_block in (most, most + 1):
                yield _shared(numbers, 32 * numbers.choice((1, 2, 4)), bytes_a_block, -1)
    for bytes_a_block in (optin - 1, optin, optin + 1, shared_per_sm, shared_per_sm + 1, 48 * KIB):
        yield _shared(numbers, 64, bytes_a_block, -1)
        yield _shared(numbers, 64, bytes_a_block, 0)
    for size in _CARVEOUTS_KIB:  # carve-outs: the per cent that rounds to each, and its neighbours
        if size * KIB > shared_per_sm:
            continue
        exact = size * KIB * 100 // shared_per_sm
        for carveout in sorted({max(0, exact - 1), exact, min(100, exact + 1)}):
            yield _shared(numbers, 64, numbers.choice((0, 1, 3 * KIB)), carveout)
            yield _shared(numbers, 32, max(0, size * KIB - KIB + numbers.choice((0, 1))), carveout)
    for barriers in range(1, 17):
        yield 32, 16, 0, 0, -1, barriers
        yield 256, 64, 4 * KIB, 0, -1, barriers
    for rejected in ((0, 32, 0), (-32, 32, 0), (64, -1, 0), (64, 32, -2), (64, 32, 101)):
        threads, registers, carveout = rejected
        yield threads, registers, 0, 0, carveout or -1, 0
    yield 2048, 16, 0, 0, -1, 0
    yield 32, 255, 0, 0, -1, 0
    yield 32, 256, 0, 0, -1, 0
    yield 32, 300, 0, 0, -1, 0


def _shared(numbers: random.Random, threads: int, total: int, carveout: int) -> Point:
    """Some of the bytes static, at most 48 KiB, the others dynamic."""
    static = min(total, 48 * KIB, numbers.choice((0, total, total // 3, 16)))
    return threads, numbers.choice((0, 16, 32)), static, total - static, carveout, 0


def _anywhere(numbers: random.Random, shared_per_sm: int) -> Point:
    threads = numbers.choice((numbers.randint(1, 1024), 32 * numbers.randint(1, 32)))
    most = shared_per_sm + 2 * KIB
    total = numbers.choice((0, numbers.randint(0, most), int(most ** numbers.random())))
    carveout = numbers.choice((-1, -1, numbers.randint(0, 100)))
    _, _, static, dynamic, _, _ = _shared(numbers, threads, total, carveout)
    barriers = numbers.choice((0, 0, 0, numbers.randint(1, 16)))
    registers = numbers.randint(1, min(256, 65_536 // threads + 8))  # seldom too many
    return threads, registers, static, dynamic, carveout, barriers


def compiled(folder: Path) -> Path:
    """The program, built against the first folder that has the headers."""
    source, program = folder / "occupancy.cpp", folder / "occupancy"
    cases = (f"case {a}: return cuda::arch_traits<cuda::arch_id::sm_{a}>();" for a in ARCHITECTURES)
    source.write_text(_PROGRAM.replace("CASES", "\n        ".join(cases)))
    folders = [f"-I{path}" for path in include_paths()]
    subprocess.run(
        ["c++", "-std=c++17", "-O1", "-w", *folders, str(source), "-o", str(program)], check=True
    )
    return program


def answered(program: Path, architecture: int, asked: list[Point]) -> tuple[str, list[str]]:
    """(the device's limits, a row for each point)."""
    text = "\n".join([str(architecture), *(",".join(map(str, point)) for point in asked)])
    run = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True)
    limits, *rows = run.stdout.splitlines()
    return limits, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=ROOT / "tests" / "simulator" / "occupancy")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    header = next(
        p / "cuda_occupancy.h" for p in include_paths() if (p / "cuda_occupancy.h").exists()
    )
    knows = re.findall(r"#define __CUDA_OCC_M\w+__ (\d+)", header.read_text())
    origin = (
        f"# cuda_occupancy.h of nvidia-cuda-runtime {version('nvidia-cuda-runtime')}, up to "
        f"compute capability {'.'.join(knows)}; arch_traits.h of nvidia-cuda-cccl "
        f"{version('nvidia-cuda-cccl')}"
    )
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        for architecture in ARCHITECTURES:
            limits, _ = answered(program, architecture, [])
            found = re.search(r"shared_bytes_per_sm=(\d+)", limits)
            assert found is not None
            asked = points(architecture, int(found[1]))
            limits, rows = answered(program, architecture, asked)
            assert len(rows) == len(asked)
            text = "\n".join([origin, f"# {limits}", f"{_INPUTS},{_OUTPUTS}", *rows])
            (output / f"sm_{architecture}.csv").write_text(text + "\n")
            total += len(rows)
            print(f"sm_{architecture}: {len(rows)} points")
    print(f"{total} points in {output}")


if __name__ == "__main__":
    main()
