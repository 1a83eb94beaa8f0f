"""A model without arithmetic: its next token is a hash of what it reads back from memory.

A slot of the cache holds (token, position), exactly. Whoever moves keys and values about (an
allocator, a block table, a scheduler) is right if the tokens that come out are these, whatever the
lengths and the order of events; a slot lost, shared by mistake or freed early changes them. There
is no tolerance to hide in.
"""

from collections.abc import Iterable, Sequence

VOCABULARY = 251  # tokens 0 .. 250; a prime, so that the hash mixes all of them
_MODULUS = (1 << 61) - 1  # a Mersenne prime
_BASE = 0x1F3D_5B79_8ACE_24


def next_token(slots: Iterable[tuple[int, int]]) -> int:
    """The token that follows what is read back: (token, position) of each slot, in order."""
    state = 1
    for token, position in slots:
        state = (state * _BASE + token * 1_000_003 + position + 1) % _MODULUS
    return state % VOCABULARY


def continuation(prompt: Sequence[int], count: int) -> list[int]:
    """The `count` tokens that follow the prompt when nothing is lost."""
    slots = [(token, position) for position, token in enumerate(prompt)]
    answer: list[int] = []
    for _ in range(count):
        answer.append(next_token(slots))
        slots.append((answer[-1], len(slots)))
    return answer
