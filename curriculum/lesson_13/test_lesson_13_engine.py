"""Lesson 13, task 3: what a kernel is told of the books, and whether tokens survive all of them."""

from random import Random

import pytest
import torch

from curriculum.lesson_13 import paged
from curriculum.lesson_13.paged import BlockAllocator, BlockTable
from harness.judging.returned import refused
from references import echo


def int32(name, got, shape):
    if not isinstance(got, torch.Tensor):
        pytest.fail(f"{name} returned a {type(got).__name__}, not a tensor", pytrace=False)
    said = f"{name} returned {got.dtype} {list(got.shape)}"
    assert (got.dtype, list(got.shape)) == (torch.int32, list(shape)), f"{said}, not int32 {shape}"


@pytest.mark.task(3)
@pytest.mark.parametrize(
    "starts, lens, pad_to",
    [([0, 0], [5, 3], 8), ([4, 2], [1, 1], 8), ([0, 3], [0, 0], 2), ([1, 0], [4, 2], 6)],
    ids=["whole prompts", "a decode step", "nothing new", "a chunk and a part"],
)
def test_each_new_token_has_its_slot_and_padding_has_none(starts, lens, pad_to):
    allocator = BlockAllocator(9)
    tables = [BlockTable(allocator, 2), BlockTable(allocator, 2)]
    tables[0].append_slots(3), tables[1].append_slots(3), tables[0].append_slots(2)
    got = paged.slot_mapping(tables, starts, lens, pad_to)
    int32("slot_mapping", got, (pad_to,))
    wanted = [
        table.blocks[i // 2] * 2 + i % 2
        for table, start, count in zip(tables, starts, lens, strict=True)
        for i in range(start, start + count)
    ]
    wanted += [-1] * (pad_to - len(wanted))
    said = f"tables {[t.blocks for t in tables]}, blocks of 2, from {starts}, {lens} tokens"
    assert got.tolist() == wanted, f"{said}: {got.tolist()}, not {wanted}"


@pytest.mark.task(3)
def test_more_tokens_than_room_are_refused():
    table = BlockTable(BlockAllocator(3), 2)
    table.append_slots(5)
    assert paged.slot_mapping([table], [0], [5], 5).shape == (5,)
    refused(
        "slot_mapping of 5 tokens into 4 places",
        ValueError,
        lambda: paged.slot_mapping([table], [0], [5], 4),
    )


@pytest.mark.task(3)
@pytest.mark.parametrize("safe", [0, 7])
def test_rows_are_filled_up_with_a_safe_block(safe):
    allocator = BlockAllocator(9)
    tables = [BlockTable(allocator, 4) for _ in range(3)]
    tables[0].append_slots(9), tables[2].append_slots(4)
    got = paged.pad_block_tables(tables, 4, safe)
    int32("pad_block_tables", got, (3, 4))
    counts = [len(table.blocks) for table in tables]
    assert counts == [3, 0, 1], f"tables of 3, 0 and 1 blocks have {counts} afterwards"
    wanted = [[*table.blocks, *[safe] * (4 - len(table.blocks))] for table in tables]
    assert got.tolist() == wanted, f"rows of 4, the rest {safe}: {got.tolist()}, not {wanted}"


@pytest.mark.task(3)
def test_a_table_wider_than_its_row_is_refused():
    table = BlockTable(BlockAllocator(3), 4)
    table.append_slots(8)
    assert paged.pad_block_tables([table], 2).shape == (1, 2)
    table.append_slots(1)  # the new token begins a third block
    refused(
        "pad_block_tables of a table of 3 blocks into a row of 2",
        ValueError,
        lambda: paged.pad_block_tables([table], 2),
    )


# --- Tasks 1 to 3 together: the tokens come out right only if the books are -----------------------


class Engine:
    """Decodes with a model whose next token is a hash of all that it reads back from the blocks.

    It moves (token, position) pairs by slots and block ids alone, as kernels would.
    """

    def __init__(self, blocks, size):
        self.allocator, self.size = BlockAllocator(blocks), size
        self.memory = torch.full((blocks * size, 2), -1)

    def write(self, table, tokens):
        """Put tokens behind those of a table."""
        for source, target in table.ensure_writable():
            rows = self.memory.view(-1, self.size, 2)
            rows[target] = rows[source]
        start = table.length
        table.append_slots(len(tokens))
        slots = paged.slot_mapping([table], [start], [len(tokens)], len(tokens) + 3)
        placed = zip(slots[:-3].tolist(), enumerate(tokens, start), strict=True)
        for slot, (position, token) in placed:
            assert 0 <= slot < len(self.memory), f"token {position} goes to slot {slot}"
            self.memory[slot] = torch.tensor([token, position])

    def next_tokens(self, tables):
        width = max(len(table.blocks) for table in tables)
        rows = paged.pad_block_tables(tables, width).long()
        read = self.memory.view(-1, self.size, 2)[rows].flatten(1, 2)  # [tables, tokens, 2]
        return [
            echo.next_token(map(tuple, pairs[: table.length].tolist()))
            for pairs, table in zip(read, tables, strict=True)
        ]


@pytest.mark.task(3)
@pytest.mark.parametrize("size", [1, 3, 16])
def test_an_engine_on_these_books_says_what_the_model_says(size):
    random = Random(size)
    engine = Engine(240 // size, size)
    running, done = [], 0  # [table, its tokens, how many of them were given]
    while done < 12:
        if len(running) < 4 and running and random.random() < 0.5:
            # Somebody wants a second answer: the tokens so far, and another one behind them.
            parent, tokens, _ = random.choice(running)
            table, given = parent.fork(), [random.randrange(echo.VOCABULARY)]
            engine.write(table, given)
            running.append([table, tokens + given, len(tokens) + 1])
        elif len(running) < 4:
            tokens = [random.randrange(echo.VOCABULARY) for _ in range(random.randint(1, 20))]
            table = BlockTable(engine.allocator, size)
            engine.write(table, tokens)
            running.append([table, tokens, len(tokens)])
        for sequence, token in zip(
            list(running), engine.next_tokens([table for table, *_ in running]), strict=True
        ):
            table, tokens, given = sequence
            engine.write(table, [token])
            sequence[1] = tokens = [*tokens, token]
            wanted = echo.continuation(tokens[:given], len(tokens) - given)
            said = f"blocks of {size}: behind {given} tokens it says {tokens[given:]}"
            assert tokens[given:] == wanted, f"{said}, not {wanted}: it has read other tokens"
            if random.random() < 0.07 or len(tokens) > 50:
                table.release()
                running.remove(sequence)
                done += 1
    for table, *_ in running:
        table.release()
    free, blocks = engine.allocator.num_free, engine.allocator.num_blocks
    assert free == blocks, f"all sequences are gone, and {free} of {blocks} blocks are free"
