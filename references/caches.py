"""What lesson 02's cache must do, by replaying a trace; its lines in ordered dictionaries."""

from collections import OrderedDict
from collections.abc import Sequence


def replayed(trace: Sequence[int], lines: int, ways: int) -> tuple[int, int]:
    """(hits, misses) of a cache of `lines` lines in sets of `ways`, least recently used out."""
    sets: list[OrderedDict[int, bool]] = [OrderedDict() for _ in range(lines // ways)]
    hits = 0
    for line in trace:
        kept = sets[line % len(sets)]
        hits += line in kept
        kept[line] = True
        kept.move_to_end(line)
        if len(kept) > ways:
            kept.popitem(last=False)
    return hits, len(trace) - hits
