"""A heap of free blocks and a counter of users; tensors for slots."""

import heapq
from collections import Counter

import torch


class OutOfBlocks(RuntimeError):
    pass


class BlockAllocator:
    def __init__(self, num_blocks):
        self.num_blocks = num_blocks
        self.heap = [*range(num_blocks)]
        self.counter = Counter()

    num_free = property(lambda self: len(self.heap))

    def refcount(self, block):
        return self.counter[block]

    def alloc(self):
        if self.heap:
            first = heapq.heappop(self.heap)
            self.counter[first] = 1
            return first
        raise OutOfBlocks

    def alloc_many(self, count):
        if self.num_free < count:
            raise OutOfBlocks(count)
        return [self.alloc() for _ in range(count)]

    def share(self, block):
        if self.counter[block] < 1:
            raise ValueError(block)
        self.counter.update([block])

    def free(self, block):
        if self.counter[block] < 1:
            raise ValueError(block)
        self.counter.subtract([block])
        if not self.counter[block]:
            heapq.heappush(self.heap, block)


class BlockTable:
    def __init__(self, allocator, block_size):
        self.allocator, self.block_size = allocator, block_size
        self.blocks, self.length = [], 0

    def slot(self, position):
        which, place = divmod(position, self.block_size)
        return self.blocks[which] * self.block_size + place

    def append_slots(self, count):
        spare = len(self.blocks) * self.block_size - self.length
        missing = max(0, count - spare)
        new = self.allocator.alloc_many((missing + self.block_size - 1) // self.block_size)
        self.blocks = [*self.blocks, *new]
        slots = []
        for _ in range(count):
            slots.append(self.slot(self.length))
            self.length += 1
        return slots

    def fork(self):
        twin = type(self)(self.allocator, self.block_size)
        twin.length = self.length
        for block in self.blocks:
            self.allocator.share(block)
            twin.blocks.append(block)
        return twin

    def ensure_writable(self):
        if self.length % self.block_size:
            last = self.blocks[-1]
            if self.allocator.refcount(last) > 1:
                self.blocks = self.blocks[:-1] + [self.allocator.alloc()]
                self.allocator.free(last)
                return [(last, self.blocks[-1])]
        return []

    def release(self):
        while self.blocks:
            self.allocator.free(self.blocks.pop())
        self.length = 0


def slot_mapping(tables, starts, lens, pad_to):
    out = torch.full((pad_to,), -1, dtype=torch.int32)
    at = 0
    for table, start, count in zip(tables, starts, lens, strict=True):
        if at + count > pad_to:
            raise ValueError("too many tokens")
        for i in range(count):
            out[at] = table.slot(start + i)
            at += 1
    return out


def pad_block_tables(tables, width, safe=0):
    if any(len(table.blocks) > width for table in tables):
        raise ValueError("too narrow")
    rows = [table.blocks + [safe] * (width - len(table.blocks)) for table in tables]
    return torch.tensor(rows, dtype=torch.int32).reshape(len(rows), width)


def can_admit(allocator, block_size, prompt_len, watermark):
    blocks = (prompt_len - 1) // block_size + 1
    left = allocator.num_free - blocks
    return left >= 0 and left >= watermark * allocator.num_blocks
