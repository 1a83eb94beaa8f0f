"""One list of counts says everything: a block is free where its count is 0."""

import torch

OutOfBlocks = type("OutOfBlocks", (RuntimeError,), {})


class BlockAllocator:
    def __init__(self, num_blocks):
        self.num_blocks, self.counts = num_blocks, num_blocks * [0]

    @property
    def num_free(self):
        return self.counts.count(0)

    def refcount(self, block):
        return self.counts[block]

    def _one_of(self, block):
        if block not in range(self.num_blocks) or not self.counts[block]:
            raise ValueError(f"{block}?")
        return block

    def alloc(self):
        (block,) = self.alloc_many(1)
        return block

    def alloc_many(self, count):
        found = [block for block, users in enumerate(self.counts) if not users][:count]
        if len(found) != count:
            raise OutOfBlocks("too few")
        for block in found:
            self.share_any(block)
        return found

    def share_any(self, block):
        self.counts[block] += 1

    def share(self, block):
        self.share_any(self._one_of(block))

    def free(self, block):
        self.counts[self._one_of(block)] -= 1


class BlockTable:
    def __init__(self, allocator, block_size, blocks=(), length=0):
        self.allocator, self.block_size = allocator, block_size
        self.blocks, self.length = list(blocks), length

    def slot(self, position):
        return self.blocks[position // self.block_size] * self.block_size + (
            position - position // self.block_size * self.block_size
        )

    def append_slots(self, count):
        total = self.length + count
        wanted = (total + self.block_size - 1) // self.block_size
        extra = wanted - len(self.blocks)
        self.blocks.extend(self.allocator.alloc_many(extra) if extra > 0 else [])
        self.length = total
        return [self.slot(p) for p in range(total - count, total)]

    def fork(self):
        list(map(self.allocator.share, self.blocks))
        return BlockTable(self.allocator, self.block_size, self.blocks, self.length)

    def ensure_writable(self):
        copies = []
        full, partial = divmod(self.length, self.block_size)
        if partial and self.allocator.refcount(self.blocks[full]) > 1:
            copies.append((self.blocks[full], self.allocator.alloc()))
            self.allocator.free(copies[0][0])
            self.blocks[full] = copies[0][1]
        return copies

    def release(self):
        list(map(self.allocator.free, self.blocks))
        self.__init__(self.allocator, self.block_size)


def slot_mapping(tables, starts, lens, pad_to):
    spans = zip(tables, starts, lens, strict=True)
    slots = sum(([t.slot(p) for p in range(s, s + n)] for t, s, n in spans), [])
    free = pad_to - len(slots)
    if free < 0:
        raise ValueError(free)
    return torch.nn.functional.pad(torch.tensor(slots, dtype=torch.int32), (0, free), value=-1)


def pad_block_tables(tables, width, safe=0):
    out = torch.empty(len(tables), width, dtype=torch.int32)
    out[:] = safe
    for i in range(len(tables)):
        if len(tables[i].blocks) > width:
            raise ValueError(i)
        for j, block in enumerate(tables[i].blocks):
            out[i, j] = block
    return out


def can_admit(allocator, block_size, prompt_len, watermark):
    kept = watermark * allocator.num_blocks
    return (allocator.num_free - kept) >= len(range(0, prompt_len, block_size))
