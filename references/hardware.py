"""Figures of real GPUs, one value per constant, each with its source.

A `Gpu` holds what the vendor publishes. `MEASURED_H200` holds what we measured on one H200, since
no kernel ever meets a datasheet. Units are in the names; a gigabyte is 10**9 bytes, a KiB is 2**10.
"""

from dataclasses import dataclass

KIB = 1 << 10
MIB = 1 << 20

LANES_PER_WARP = 32  # CUDA C++ Programming Guide, "SIMT architecture"
SCHEDULERS_PER_SM = 4  # one per quarter of the SM; H100 and A100 architecture whitepapers
THREADS_PER_BLOCK = 1024  # the most a block may have; Programming Guide, "Compute capabilities"
REGISTERS_PER_THREAD = 255  # the most a thread may have; Programming Guide, the same table
# How an SM hands out registers and shared memory: cuda_occupancy.h, part of the CUDA runtime.
REGISTERS_PER_ALLOCATION = 256  # a warp gets a multiple of it, all from one quarter of the SM
SHARED_BYTES_PER_ALLOCATION = 128  # a block gets a multiple of it
RESERVED_SHARED_BYTES = 1024  # of each block's, for the system; compute capability 8.0 and newer
SHARED_BYTES_PER_CLOCK = 128  # per SM: 32 banks of 4 bytes; Programming Guide, "Shared memory"
SECTOR_BYTES = 32  # what L1 asks L2 for; Nsight Compute documentation, "Memory tables"
# What L2 asks memory for at a time. The limit is cudaLimitMaxL2FetchGranularity of the CUDA Runtime
# API; the value shows in the sweep "stride" of h200.json, whose time doubles from stride 8 to 16.
MEMORY_FETCH_BYTES = 64


@dataclass(frozen=True, slots=True)
class Gpu:
    """What the vendor says about one GPU."""

    name: str
    compute_capability: tuple[int, int]
    sms: int
    boost_gigahertz: float
    warps_per_sm: int
    blocks_per_sm: int
    registers_per_sm: int  # of 32 bits
    shared_bytes_per_sm: int
    shared_bytes_per_block: int  # on request; 48 KiB without asking
    l2_bytes: int
    memory_gigabytes: int
    memory_gigabytes_per_second: float
    fp32_teraflops: float  # outside the tensor cores
    bf16_teraflops: float  # tensor cores, dense; datasheets print twice that, for sparse matrices
    fp8_teraflops: float | None = None  # the same, where the GPU multiplies fp8

    @property
    def threads_per_sm(self) -> int:
        return self.warps_per_sm * LANES_PER_WARP

    @property
    def bf16_ridge(self) -> float:
        """FLOPs per byte at which the datasheet's two limits meet."""
        return self.bf16_teraflops * 1000 / self.memory_gigabytes_per_second


# Limits per SM: CUDA C++ Programming Guide, table "Technical specifications per compute
# capability", and the tuning guides for Hopper and Ampere. Sizes and rates: NVIDIA's datasheets.
# L2 of the H200 and boost clocks: cudaGetDeviceProperties and nvidia-smi on the GPU itself.
H200 = Gpu(
    name="H200 SXM",
    compute_capability=(9, 0),
    sms=132,
    boost_gigahertz=1.98,
    warps_per_sm=64,
    blocks_per_sm=32,
    registers_per_sm=65_536,
    shared_bytes_per_sm=228 * KIB,
    shared_bytes_per_block=227 * KIB,
    l2_bytes=60 * MIB,
    memory_gigabytes=141,
    memory_gigabytes_per_second=4800.0,
    fp32_teraflops=67.0,
    bf16_teraflops=989.4,
    fp8_teraflops=1978.9,
)

H100 = Gpu(
    name="H100 SXM",
    compute_capability=(9, 0),
    sms=132,
    boost_gigahertz=1.98,
    warps_per_sm=64,
    blocks_per_sm=32,
    registers_per_sm=65_536,
    shared_bytes_per_sm=228 * KIB,
    shared_bytes_per_block=227 * KIB,
    l2_bytes=50 * MIB,
    memory_gigabytes=80,
    memory_gigabytes_per_second=3350.0,
    fp32_teraflops=67.0,
    bf16_teraflops=989.4,
    fp8_teraflops=1978.9,
)

H100_PCIE = Gpu(
    name="H100 PCIe",
    compute_capability=(9, 0),
    sms=114,
    boost_gigahertz=1.755,
    warps_per_sm=64,
    blocks_per_sm=32,
    registers_per_sm=65_536,
    shared_bytes_per_sm=228 * KIB,
    shared_bytes_per_block=227 * KIB,
    l2_bytes=50 * MIB,
    memory_gigabytes=80,
    memory_gigabytes_per_second=2000.0,
    fp32_teraflops=51.2,
    bf16_teraflops=756.0,
    fp8_teraflops=1513.0,
)

A100 = Gpu(
    name="A100 SXM 80 GB",
    compute_capability=(8, 0),
    sms=108,
    boost_gigahertz=1.41,
    warps_per_sm=64,
    blocks_per_sm=32,
    registers_per_sm=65_536,
    shared_bytes_per_sm=164 * KIB,
    shared_bytes_per_block=163 * KIB,
    l2_bytes=40 * MIB,
    memory_gigabytes=80,
    memory_gigabytes_per_second=2039.0,
    fp32_teraflops=19.5,
    bf16_teraflops=312.0,
)

# Figures of the two below: NVIDIA's whitepapers on the GA102 and AD102 architectures.
RTX_3090 = Gpu(
    name="GeForce RTX 3090",
    compute_capability=(8, 6),
    sms=82,
    boost_gigahertz=1.695,
    warps_per_sm=48,
    blocks_per_sm=16,
    registers_per_sm=65_536,
    shared_bytes_per_sm=100 * KIB,
    shared_bytes_per_block=99 * KIB,
    l2_bytes=6 * MIB,
    memory_gigabytes=24,
    memory_gigabytes_per_second=936.0,
    fp32_teraflops=35.6,
    bf16_teraflops=71.0,
)

RTX_4090 = Gpu(
    name="GeForce RTX 4090",
    compute_capability=(8, 9),
    sms=128,
    boost_gigahertz=2.52,
    warps_per_sm=48,
    blocks_per_sm=24,
    registers_per_sm=65_536,
    shared_bytes_per_sm=100 * KIB,
    shared_bytes_per_block=99 * KIB,
    l2_bytes=72 * MIB,
    memory_gigabytes=24,
    memory_gigabytes_per_second=1008.0,
    fp32_teraflops=82.6,
    bf16_teraflops=165.2,
)

GPUS = {
    "h200": H200,
    "h100": H100,
    "h100_pcie": H100_PCIE,
    "a100": A100,
    "rtx_3090": RTX_3090,
    "rtx_4090": RTX_4090,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one GPU did under our own kernels and torch's, at its boost clock."""

    copy_gigabytes_per_second: float  # device to device, bytes read + bytes written
    read_gigabytes_per_second: float  # reads alone
    l2_gigabytes_per_second: float  # a window that fits in L2, read again and again
    l1_gigabytes_per_second: float  # the same, when each SM comes back to its own slice
    shared_gigabytes_per_second: float
    memory_latency_cycles: float  # one load of a chain, a window of 1 GiB
    l2_latency_cycles: float  # the same, a window of 16 MiB
    shared_latency_cycles: float
    fma_latency_cycles: float  # one float multiply-add waiting for the last
    fp32_teraflops: float  # cuBLAS, 4096 cubed, TF32 off
    bf16_teraflops: float  # cuBLAS, 4096 cubed
    launch_microseconds: float  # an empty kernel through CuPy
    graph_launch_microseconds: float  # a kernel inside a CUDA graph
    pageable_gigabytes_per_second: float  # host to device over PCIe
    pinned_gigabytes_per_second: float  # either way over PCIe

    @property
    def bf16_ridge(self) -> float:
        """FLOPs per byte at which the two measured limits meet."""
        return self.bf16_teraflops * 1000 / self.copy_gigabytes_per_second


# One H200 SXM, 1.98 GHz, driver 580, CUDA 13, torch 2.11; medians of CUDA events, except the
# latencies: loads that each wait for the one before, timed with the SM's own clock.
MEASURED_H200 = Measured(
    copy_gigabytes_per_second=4245.0,
    read_gigabytes_per_second=4380.0,
    l2_gigabytes_per_second=8300.0,
    l1_gigabytes_per_second=22_000.0,
    shared_gigabytes_per_second=32_000.0,
    memory_latency_cycles=709.0,
    l2_latency_cycles=287.0,
    shared_latency_cycles=30.0,
    fma_latency_cycles=4.2,
    fp32_teraflops=51.4,
    bf16_teraflops=717.0,
    launch_microseconds=10.3,
    graph_launch_microseconds=1.28,
    pageable_gigabytes_per_second=18.6,
    pinned_gigabytes_per_second=55.2,
)
