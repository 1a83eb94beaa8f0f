"""Launches the kernels of lesson 01. Read it if you like; lesson 03 explains how."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from harness import cuda

module = cuda.module(__file__, "kernel.cu")
whoami_kernel = module.get_function("whoami")
lanes_kernel = module.get_function("lanes")
spin_kernel = module.get_function("spin")
chain_kernel = module.get_function("chain")


class Answers(NamedTuple):
    """What the threads of one launch wrote down, each int32 [blocks * threads]."""

    block: Tensor
    thread: Tensor
    lane: Tensor
    sm: Tensor


def whoami(blocks: int, threads: int, device: torch.device | str = "cpu") -> Answers:
    """Ask every thread of a launch who it is."""
    places = blocks * threads
    answers = Answers(*(torch.empty(places, dtype=torch.int32, device=device) for _ in range(4)))
    whoami_kernel((blocks,), (threads,), (*answers,))
    return answers


def lanes(block: tuple[int, int, int], device: torch.device | str = "cpu") -> Tensor:
    """The lane that the hardware gave to each thread of one block: int32 [x, y, z]."""
    lane = torch.empty(block, dtype=torch.int32, device=device)
    lanes_kernel((1,), block, (lane,))
    return lane


def spin(blocks: int, threads: int, cycles: int, device: torch.device | str = "cuda") -> Tensor:
    """Keep every block on its SM for so many clock cycles; return the SMs: int32 [blocks]."""
    started = torch.empty(blocks, dtype=torch.int32, device=device)
    spin_kernel((blocks,), (threads,), (started, np.int64(cycles)))
    return started


def chain(blocks: int, warps: int, steps: int, device: torch.device | str = "cuda") -> Tensor:
    """Let every thread do 32 * steps multiply-adds in a row; float32 [blocks * threads]."""
    y = torch.empty(blocks * warps * 32, device=device)
    chain_kernel((blocks,), (warps * 32,), (y, np.int32(steps)))
    return y
