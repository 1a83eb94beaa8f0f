"""Lesson 13, tasks 6 and 8: what the size of a block costs, and how many may come in."""

from random import Random

import pytest

from curriculum.lesson_13 import paged, tradeoff
from curriculum.lesson_13.paged import BlockAllocator, BlockTable, OutOfBlocks
from curriculum.lesson_13.tradeoff import BlockTradeoff
from harness.judging.returned import number
from references.models import LLAMA_2_13B, LLAMA_3_8B
from references.paged import attention_in_full, filled


def cost(bs, mean_len=512, B=1, s=LLAMA_3_8B):
    got = tradeoff.block_tradeoff(bs, mean_len, B, s)
    if not isinstance(got, BlockTradeoff):
        pytest.fail(f"block_tradeoff returned {got!r}, no BlockTradeoff", pytrace=False)
    return got


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "bs, mean_len, wanted",
    [(1, 512, 0), (16, 512, 0.01444), (32, 512, 0.02938), (128, 512, 0.11034), (256, 512, 0.19937)]
    + [(16, 100, 0.06977), (2, 1, 0.33333)],
)
def test_half_a_block_stays_empty_but_for_half_a_slot(bs, mean_len, wanted):
    got = cost(bs, mean_len).tail_waste_frac
    said = f"blocks of {bs}, {mean_len} tokens on average: {got:.5f} of the slots are tail"
    assert got == pytest.approx(wanted, abs=1e-5), f"{said}, not {wanted}"


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "bs, mean_len, B, entries",
    [(16, 512, 1, 32), (16, 513, 3, 99), (256, 512, 64, 128), (1, 7, 2, 14)],
)
def test_a_table_is_nothing_beside_what_it_finds(bs, mean_len, B, entries):
    got = cost(bs, mean_len, B).table_bytes
    said = f"{B} tables of {mean_len} tokens in blocks of {bs}: {got} bytes"
    assert got == 4 * entries, f"{said}, not {4 * entries}"


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "bs, mean_len, s, wanted",
    [
        (16, 330, LLAMA_3_8B, 6.06814),
        (1, 2048, LLAMA_3_8B, 0.99997),
        (256, 330, LLAMA_3_8B, 4.47650),
    ]
    + [(1, 1024, LLAMA_2_13B, 1.99999)],
    ids=["16", "1, full", "256", "1, half full"],
)
def test_as_many_more_sequences_fit_as_bytes_are_saved(bs, mean_len, s, wanted):
    got = number("max_batch_gain", cost(bs, mean_len, 8, s).max_batch_gain)
    said = f"{s.name}, {mean_len} tokens, blocks of {bs}: {got:.5f} times as many as with 2048 kept"
    assert got == pytest.approx(wanted, abs=1e-5), f"{said}, not {wanted}"


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("bs", [4, 8])
def test_the_kernel_reads_as_many_entries_as_the_model_says(bs, rng, profile, close):
    from curriculum.lesson_13 import host

    def loaded(block_size):
        inputs = filled([32], 1, 1, 8, block_size, rng)
        launches = profile(lambda: host.paged_attention(*inputs))
        close(launches.result, attention_in_full, *inputs)
        return launches["paged_attn_decode"].counters.global_load_bytes

    entries = (loaded(bs) - loaded(32)) / 4 + 1  # a single block has one entry
    got = 32 * cost(bs, 32).extra_loads_per_token
    said = f"32 tokens in blocks of {bs}: the model says {got:g} loads"
    assert got == entries, f"{said}, the simulator counts {entries:g}"


@pytest.mark.task(6)
def test_the_tail_of_real_tables_is_what_the_model_says():
    allocator, lengths = BlockAllocator(9000), range(1, 513)  # every last block as often
    for bs in (16, 64):
        tables = [BlockTable(allocator, bs) for _ in lengths]
        for table, length in zip(tables, lengths, strict=True):
            table.append_slots(length)
        slots = bs * sum(len(table.blocks) for table in tables)
        measured = 1 - sum(lengths) / slots
        for table in tables:
            table.release()
        got = cost(bs, 256).tail_waste_frac
        said = f"512 tables, blocks of {bs}: {measured:.4f} of the slots are empty"
        assert got == pytest.approx(measured, rel=0.01), f"{said}, the model says {got:.4f}"


# Mean tokens of prompts and answers: Kwon et al., SOSP 2023, figure 11.
SHAREGPT, ALPACA = (161, 338), (19, 58)


def requests(prompt, answer, count=300, seed=0):
    """Requests of spread lengths with the given means, all within 2048 tokens."""
    random = Random(seed)
    drawn = [(random.expovariate(1 / prompt), random.expovariate(1 / answer)) for _ in range(count)]
    return [(min(1023, 1 + int(p)), min(1023, 1 + int(a))) for p, a in drawn]


@pytest.mark.task(6)
@pytest.mark.parametrize("use", ["reserved_use", "paged_use"])
def test_every_step_of_every_request_counts(use):
    pair, size = [(3, 2), (1, 4)], 8  # 4 5 tokens; 2 3 4 5
    # Slots: all reserved, 8 each; in blocks of 4, 4 8 and 4 4 4 8.
    wanted = 23 / 48 if use == "reserved_use" else 23 / 32
    got = number(use, getattr(tradeoff, use)(pair, size if use == "reserved_use" else 4))
    said = f"requests (3, 2) and (1, 4), {use}: {got:.4f}"
    assert got == pytest.approx(wanted), f"{said}, not {wanted:.4f} (23 tokens over all steps)"


@pytest.mark.task(6)
@pytest.mark.parametrize("spread", [False, True], ids=["all alike", "spread"])
def test_the_papers_caches_were_a_fifth_full_and_with_blocks_nearly_full(spread):
    """Kwon et al., SOSP 2023, figure 2: 20.4 % where the longest is reserved, else 96.3 %."""
    served = requests(*SHAREGPT) if spread else [SHAREGPT]
    for got, published, name in (
        (tradeoff.reserved_use(served), 0.204, "2048 reserved"),
        (tradeoff.paged_use(served, 16), 0.963, "blocks of 16"),
    ):
        said = f"ShareGPT's lengths, {name}: {got:.1%} of the slots are used"
        assert got == pytest.approx(published, abs=0.05), f"{said}; published are {published:.1%}"


@pytest.mark.task(6)
def test_short_answers_want_small_blocks():
    # The same block of 128 that ShareGPT fills well is mostly empty with Alpaca's short texts.
    long, short = (tradeoff.paged_use(requests(*kind), 128) for kind in (SHAREGPT, ALPACA))
    said = f"blocks of 128: ShareGPT {long:.1%}, Alpaca {short:.1%}"
    assert long > 0.8 and short < 0.55, said
    fine = tradeoff.paged_use(requests(*ALPACA), 16)
    assert fine > 0.85, f"Alpaca in blocks of 16: {fine:.1%}"


@pytest.mark.task(6)
def test_a_pool_holds_several_times_the_sequences():
    allocator, lengths = BlockAllocator(1024), [sum(r) for r in requests(*SHAREGPT, seed=3)]
    tables = []
    while True:
        table = BlockTable(allocator, 16)
        try:
            table.append_slots(lengths[len(tables)])
        except OutOfBlocks:
            break
        tables.append(table)
    reserved = 1024 * 16 // 2048
    model = cost(16, sum(lengths[: len(tables)]) // len(tables)).max_batch_gain
    got = len(tables) / reserved
    said = f"16,384 slots: {len(tables)} sequences in blocks, {reserved} with 2048 reserved"
    assert got >= 2, said
    assert model == pytest.approx(got, rel=0.1), f"{said}; the model says {model:.2f} times as many"


# --- Task 8: admission (stretch) ------------------------------------------------------------------


@pytest.mark.task(8)
@pytest.mark.stretch
@pytest.mark.parametrize(
    "used, prompt_len, watermark, wanted",
    [
        (0, 160, 0, True),
        (0, 161, 0, False),
        (7, 33, 0, True),
        (7, 49, 0, False),
        (8, 17, 0.05, False),
    ]
    + [(8, 16, 0.1, True), (0, 145, 0.01, False), (0, 144, 0.01, True), (10, 1, 0, False)],
)
def test_a_prompt_comes_in_if_enough_blocks_stay_free(used, prompt_len, watermark, wanted):
    """sglang#4602: counted in tokens, what is free in other sequences' pages looks like room."""
    allocator = BlockAllocator(10)
    allocator.alloc_many(used)
    got = paged.can_admit(allocator, 16, prompt_len, watermark)
    said = f"{10 - used} of 10 blocks of 16 free, {watermark:.0%} to stay free"
    assert bool(got) == wanted, f"{said}: a prompt of {prompt_len} tokens, can_admit says {got}"


@pytest.mark.task(8)
@pytest.mark.stretch
def test_what_is_admitted_fits():
    random = Random(8)
    for _ in range(200):
        allocator, size = BlockAllocator(random.randint(1, 12)), random.randint(1, 20)
        allocator.alloc_many(random.randint(0, allocator.num_blocks))
        prompt = random.randint(1, 100)
        table, free = BlockTable(allocator, size), allocator.num_free
        promised = paged.can_admit(allocator, size, prompt, 0)
        try:
            fits = bool(table.append_slots(prompt))
        except OutOfBlocks:
            fits = False
        said = f"{free} blocks of {size} are free, a prompt of {prompt}: can_admit says {promised}"
        assert promised == fits, f"{said}, and append_slots {'does' if fits else 'does not'}"
