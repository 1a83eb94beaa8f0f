"""Lesson 13, task 2: the blocks of a sequence, shared and copied when they are written to."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from curriculum.lesson_13.paged import BlockAllocator, BlockTable, OutOfBlocks
from harness.judging.returned import refused
from harness.judging.story import Story, play


def table_of(length, block_size, blocks=20):
    table = BlockTable(BlockAllocator(blocks), block_size)
    return table, table.append_slots(length)


@pytest.mark.task(2)
@pytest.mark.parametrize("block_size", [1, 2, 16])
@pytest.mark.parametrize("length", [0, 1, 2, 15, 16, 17, 33])
def test_a_table_has_as_many_blocks_as_its_tokens_begin(length, block_size):
    table, slots = table_of(length, block_size, 40)
    wanted = -(-length // block_size)
    said = f"{length} tokens in blocks of {block_size}"
    assert len(table.blocks) == wanted, f"{said}: {len(table.blocks)} blocks, not {wanted}"
    assert table.length == length, f"{said}: the length is {table.length}"
    places = [table.blocks[i // block_size] * block_size + i % block_size for i in range(length)]
    assert slots == places, f"{said}, blocks {table.blocks}: slots {slots}, not {places}"


@pytest.mark.task(2)
@pytest.mark.parametrize("cut", [1, 7, 8, 9, 16])
def test_tokens_that_come_later_lie_behind_those_before(cut):
    table, before = table_of(cut, 8)
    early = list(table.blocks)
    slots = before + table.append_slots(17 - cut)
    said = f"{cut} tokens, then {17 - cut}, in blocks of 8"
    assert len(table.blocks) == 3, f"{said}: {len(table.blocks)} blocks"
    assert table.blocks[: len(early)] == early, f"{said}: the first blocks have changed"
    assert slots == [table.slot(i) for i in range(17)], f"{said}: slots {slots}"
    assert len(set(slots)) == 17, f"{said}: two tokens in one slot, {slots}"


@pytest.mark.task(2)
def test_the_room_in_another_tables_block_is_no_room():
    """sglang#4602: with pages of more than a token, free tokens and free pages differ."""
    allocator = BlockAllocator(2)
    a, b = BlockTable(allocator, 16), BlockTable(allocator, 16)
    a.append_slots(1), b.append_slots(1)
    assert allocator.num_free == 0, f"two tables of a token: {allocator.num_free} of 2 blocks free"
    assert len(a.append_slots(15)) == 15, "15 slots of its own block are empty, and do not count"
    full = "16 tokens in a's only block, 15 empty slots in b's: a.append_slots(1)"
    refused(full, OutOfBlocks, lambda: a.append_slots(1))
    assert (a.length, len(a.blocks)) == (16, 1), f"refused, and now {a.length} tokens"
    assert b.append_slots(15)[-1] == b.blocks[0] * 16 + 15, "b's own block has room"


@pytest.mark.task(2)
def test_a_table_that_does_not_fit_takes_nothing():
    allocator = BlockAllocator(3)
    table = BlockTable(allocator, 4)
    table.append_slots(5)
    blocks = list(table.blocks)
    full = "3 blocks of 4, 5 tokens are there: append_slots(8)"
    refused(full, OutOfBlocks, lambda: table.append_slots(8))
    assert (table.length, table.blocks) == (5, blocks), f"now {table.length} in {table.blocks}"
    assert allocator.num_free == 1, f"{allocator.num_free} of 3 blocks are free, not 1"
    assert len(table.append_slots(7)) == 7, "7 tokens fit into what is left"


class Tables(Story):
    """Sequences that grow, fork and end in any order; every token must stay where it was put."""

    @initialize(
        blocks=st.integers(2, 9), size=st.sampled_from([3, 2, 4, 1]), count=st.integers(0, 5)
    )
    def begin(self, blocks, size, count):
        self.step(f"an allocator of {blocks} blocks, {size} tokens each")
        self.allocator, self.size = BlockAllocator(blocks), size
        self.tables, self.tokens, self.memory = {}, {}, {}
        self.written = 0
        self.new()
        self.put("A", count)

    def one(self, data):
        return data.draw(st.sampled_from(sorted(self.tables)), label="which")

    @precondition(lambda self: len(self.tables) < 4)
    @rule()
    def new(self):
        name = next(n for n in "ABCD" if n not in self.tables)
        self.step(f"{name}: a new table")
        self.tables[name], self.tokens[name] = BlockTable(self.allocator, self.size), []

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), count=st.integers(0, 5))
    def grow(self, data, count):
        self.put(self.one(data), count)

    @precondition(lambda self: 0 < len(self.tables) < 4)
    @rule(data=st.data(), which=st.booleans(), count=st.integers(1, 3))
    def fork(self, data, which, count):
        parent = self.one(data)
        child = next(n for n in "ABCD" if n not in self.tables)
        self.step(f"{child} = {parent}.fork()")
        self.tables[child] = self.tables[parent].fork()
        self.tokens[child] = list(self.tokens[parent])
        self.all_is_well()
        self.put(child if which else parent, count)

    def put(self, name, count):
        """Append tokens as an engine does: first see to it that the last block is one's own."""
        table, free = self.tables[name], self.allocator.num_free
        partial = len(self.tokens[name]) % self.size > 0
        copies = int(partial and self.allocator.refcount(table.blocks[-1]) > 1)
        self.step(f"{name}.ensure_writable()")
        try:
            pairs = table.ensure_writable()
        except OutOfBlocks:
            self.outcome("OutOfBlocks")
            assert copies > free, f"OutOfBlocks: {copies} copies are needed, {free} blocks free"
            return self.all_is_well()
        self.outcome(str(pairs))
        why = "is" if copies else "is not"
        why = f"its last block {why} both partly filled and used by others"
        assert len(pairs) == copies, f"{len(pairs)} blocks to copy, not {copies}: {why}"
        for source, target in pairs:
            for i in range(self.size):
                self.memory[target * self.size + i] = self.memory.get(source * self.size + i)
        self.all_is_well()
        self.step(f"{name}.append_slots({count})")
        needed = -(-(len(self.tokens[name]) + count) // self.size) - len(table.blocks)
        try:
            slots = table.append_slots(count)
        except OutOfBlocks:
            self.outcome("OutOfBlocks")
            assert needed > free - copies, f"it needs {needed}, and {free - copies} are free"
            return self.all_is_well()
        self.outcome(str(slots))
        assert len(slots) == count, f"{len(slots)} slots for {count} tokens"
        for slot in slots:
            self.written += 1
            self.memory[slot] = self.written
            self.tokens[name].append(self.written)
        return self.all_is_well()

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), twice=st.booleans())
    def release(self, data, twice):
        name = self.one(data)
        for _ in range(1 + twice):
            self.step(f"{name}.release()")
            self.tables[name].release()
            kept = self.tables[name].blocks
            assert not kept, f"{name} is released, and its table still lists {kept}"
            self.tokens[name] = []
            self.all_is_well()
        del self.tables[name], self.tokens[name]

    def all_is_well(self):
        users = {}
        for name, table in self.tables.items():
            wanted = self.tokens[name]
            assert table.length == len(wanted), f"{name} has {table.length} of {len(wanted)} tokens"
            for block in table.blocks:
                users[block] = users.get(block, 0) + 1
            got = [self.memory.get(table.slot(i)) for i in range(table.length)]
            lost = [i for i, token in enumerate(got) if token != wanted[i]]
            said = f"{name} reads back {got}, and was given {wanted}"
            assert not lost, f"{said}: somebody wrote into its blocks {table.blocks}"
        counted = {block: self.allocator.refcount(block) for block in users}
        assert counted == users, f"users of each block {users}, and refcount says {counted}"
        free = self.allocator.num_blocks - len(users)
        said = f"{len(users)} of {self.allocator.num_blocks} blocks are in tables"
        assert self.allocator.num_free == free, f"{said}, {self.allocator.num_free} are free"


@pytest.mark.task(2)
def test_nobody_writes_into_another_tables_tokens():
    play(Tables, stories=60)


@pytest.mark.task(2)
def test_a_shared_last_block_is_replaced_before_it_is_written_to():
    allocator = BlockAllocator(4)
    table = BlockTable(allocator, 4)
    table.append_slots(6)
    first, last = table.blocks
    sibling = table.fork()
    said = f"blocks of 4, 6 tokens in {[first, last]}, forked"
    assert allocator.num_free == 2, f"{said}: {allocator.num_free} of 4 blocks are free"
    got = sibling.ensure_writable()
    assert len(got) == 1 and got[0][0] == last, f"{said}: copies {got}, and {last} is shared"
    new = got[0][1]
    assert sibling.blocks == [first, new], f"{said}, copies {got}: now in {sibling.blocks}"
    assert table.blocks == [first, last], f"{said}: the other one is now in {table.blocks}"
    users = [allocator.refcount(block) for block in (first, last, new)]
    assert users == [2, 1, 1], f"{said}, copies {got}: users of {[first, last, new]} are {users}"
    assert table.ensure_writable() == [], f"{said}: {last} has one user left, and needs no copy"


@pytest.mark.task(2)
def test_where_no_block_is_free_for_the_copy_nothing_changes():
    allocator = BlockAllocator(1)
    table = BlockTable(allocator, 4)
    table.append_slots(1)
    sibling = table.fork()
    refused("one block, shared: ensure_writable()", OutOfBlocks, sibling.ensure_writable)
    users = allocator.refcount(0)
    assert users == 2, f"one block, shared by two, no copy possible: it has {users} users now"
    assert sibling.blocks == [0], f"no copy possible: the table is now {sibling.blocks}"


@pytest.mark.task(2)
def test_a_full_block_is_shared_and_not_copied():
    table, _ = table_of(8, 4)
    sibling = table.fork()
    got = sibling.ensure_writable()
    assert got == [], f"two full blocks of 4, shared: nothing will be written there, and {got}"
    sibling.append_slots(1)
    assert len(table.blocks) == 2, f"the other table has grown, too: {table.blocks}"
    assert sibling.blocks[:2] == table.blocks, "full blocks stay shared"
