"""Lesson 13, task 1: who owns which block."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from curriculum.lesson_13.paged import BlockAllocator, OutOfBlocks
from harness.judging.returned import refused
from harness.judging.story import Story, play


def agrees(allocator, users):
    """The allocator's books against `users`: how many each used block has."""
    for block in range(allocator.num_blocks):
        got, wanted = allocator.refcount(block), users.get(block, 0)
        assert got == wanted, f"block {block} has {wanted} users, and refcount says {got}"
    free = allocator.num_blocks - len(users)
    said = f"{len(users)} of {allocator.num_blocks} blocks have users"
    assert allocator.num_free == free, f"{said}, and num_free says {allocator.num_free}"


@pytest.mark.task(1)
def test_each_block_is_handed_out_once():
    allocator = BlockAllocator(5)
    agrees(allocator, {})
    got = [allocator.alloc(), *allocator.alloc_many(3), allocator.alloc()]
    assert sorted(got) == [0, 1, 2, 3, 4], f"five of five blocks: {got}"
    refused("alloc() of a sixth block of five", OutOfBlocks, allocator.alloc)
    agrees(allocator, dict.fromkeys(got, 1))


@pytest.mark.task(1)
def test_many_are_all_or_none():
    allocator = BlockAllocator(4)
    first = allocator.alloc()
    refused("alloc_many(4), 3 blocks free", OutOfBlocks, lambda: allocator.alloc_many(4))
    agrees(allocator, {first: 1})
    rest = allocator.alloc_many(3)
    said = f"3 blocks beside {first} after 4 were refused: {rest}"
    assert sorted([first, *rest]) == [0, 1, 2, 3], said
    assert allocator.alloc_many(0) == [], "no blocks are always there"


@pytest.mark.task(1)
def test_a_shared_block_is_free_when_its_last_user_has_gone():
    allocator = BlockAllocator(1)
    block = allocator.alloc()
    allocator.share(block)
    allocator.free(block)
    agrees(allocator, {block: 1})
    allocator.free(block)
    agrees(allocator, {})
    assert allocator.alloc() == block, "the only block is free again"


@pytest.mark.task(1)
@pytest.mark.parametrize("call", ["share", "free"])
@pytest.mark.parametrize("block", [-2, -1, 0, 2, 3, 4, 99])
def test_what_has_no_user_is_neither_shared_nor_freed(call, block):
    allocator = BlockAllocator(3)
    allocator.alloc_many(3)
    allocator.free(0), allocator.free(2)
    kind = "which is free" if block in (0, 2) else "which does not exist"
    said = f"of 3 blocks 1 is used: {call}({block}), {kind}"
    refused(said, ValueError, lambda: getattr(allocator, call)(block))
    agrees(allocator, {1: 1})


class Allocations(Story):
    """Any order of alloc, share and free, against a dictionary of users."""

    @initialize(blocks=st.integers(1, 5))
    def begin(self, blocks):
        self.step(f"an allocator of {blocks} blocks")
        self.allocator, self.users = BlockAllocator(blocks), {}

    @rule(count=st.integers(0, 4))
    def take(self, count):
        self.step(f"alloc_many({count})")
        enough = count <= self.allocator.num_blocks - len(self.users)
        try:
            got = self.allocator.alloc_many(count)
        except OutOfBlocks:
            self.outcome("OutOfBlocks")
            assert not enough, f"OutOfBlocks, though {count} blocks are free"
        else:
            self.outcome(str(got))
            assert enough, f"it has given {got}, and fewer were free"
            assert len(set(got)) == count, f"alloc_many({count}) has given {got}"
            twice = set(got) & set(self.users)
            assert not twice, f"blocks {sorted(twice)} are handed out, and have users already"
            self.users |= dict.fromkeys(got, 1)
        agrees(self.allocator, self.users)

    @precondition(lambda self: self.users)
    @rule(data=st.data(), call=st.sampled_from(["share", "free", "free"]))
    def change(self, data, call):
        block = data.draw(st.sampled_from(sorted(self.users)))
        self.step(f"{call}({block})")
        getattr(self.allocator, call)(block)
        self.users[block] += 1 if call == "share" else -1
        self.users = {block: count for block, count in self.users.items() if count}
        agrees(self.allocator, self.users)

    @rule(block=st.integers(-1, 5), call=st.sampled_from(["share", "free"]))
    def mistake(self, block, call):
        if block in self.users:
            return
        self.step(f"{call}({block}), which has no user")
        refused(f"{call}({block})", ValueError, lambda: getattr(self.allocator, call)(block))
        agrees(self.allocator, self.users)


@pytest.mark.task(1)
def test_any_order_of_events_keeps_the_books():
    play(Allocations)
