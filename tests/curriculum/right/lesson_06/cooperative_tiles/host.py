"""A right answer of a third hand: a launcher object, 64 threads a block."""

from dataclasses import dataclass

import numpy as np
import torch

from harness.cuda import module

FUNCTIONS = module(__file__, "kernel.cu")


@dataclass
class Launcher:
    name: str
    block: tuple = (64,)
    bytes_a_thread: int = 0

    def __call__(self, count, *tensors, more=()):
        if count == 0:
            return
        threads = int(np.prod(self.block))
        grid = (-(-count // threads), 1, 1)
        numbers = tuple(np.int32(number) for number in (count, *more))
        kernel = FUNCTIONS.get_function(self.name)
        kernel(grid, self.block, (*tensors, *numbers), self.bytes_a_thread * threads)


def branch(kernel, x, trips, threads=64):
    result = torch.empty_like(x)
    Launcher(kernel, (threads,))(x.shape[0], x, result, more=[trips])
    return result


def branch_on(condition, x, odd_trips, even_trips):
    result = torch.empty_like(x)
    Launcher("branch_on")(x.shape[0], condition, x, result, more=[odd_trips, even_trips])
    return result


def walk(trips):
    result = torch.empty_like(trips)
    Launcher("walk")(trips.shape[0], trips, result)
    return result


def collatz_steps(x, cap=10_000, threads=64):
    result = torch.empty_like(x)
    Launcher("collatz_steps", (threads,))(x.shape[0], x, result, more=[cap])
    return result


def _counts(x):
    return torch.empty(len(x.split(32)) if len(x) else 0, dtype=torch.int32, device=x.device)


def vote_count(x, threads=64):
    result = _counts(x)
    Launcher("vote_count", (threads,))(x.shape[0], x, result)
    return result


def broadcast_first(x, block=(64,)):
    Launcher("broadcast_first", block)(x.shape[0], x)
    return x


def rotate_lanes(x, shift, block=(64,)):
    Launcher("rotate_lanes", block)(x.shape[0], x, more=[shift])
    return x


def settle(x, rounds, threads=64):
    result = torch.empty_like(x)
    most = int(rounds.max()) if len(rounds) else 0
    Launcher("settle", (threads,), 4)(x.shape[0], x, rounds, result, more=[most])
    return result


def warp_compact(x, out, threads=64):
    result = _counts(x)
    Launcher("warp_compact", (threads,))(x.shape[0], x, out, result)
    return result
