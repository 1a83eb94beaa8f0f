"""A right answer of a third hand: lane by lane, with sets and sums."""

from itertools import islice
from math import comb


def batches(values):
    values = iter(values)
    while batch := tuple(islice(values, 32)):
        yield batch


def branch_cost(condition, odd, even):
    price = {True: odd, False: even}
    return sum(price[arm] for batch in batches(condition) for arm in {c != 0 for c in batch})


def expected_cost(p, odd, even):
    # over all numbers k of lanes that may enter the odd arm
    return sum(
        comb(32, k) * p**k * (1 - p) ** (32 - k) * ((odd if k else 0) + (even if k < 32 else 0))
        for k in range(33)
    )


def efficiency(condition, odd, even):
    at_work = 0
    for lane in condition:
        at_work += odd if lane else even
    return at_work / (32 * branch_cost(condition, odd, even))


def loop_cost(trips):
    issued = 0
    for batch in batches(trips):
        alive = list(batch)
        while any(alive):
            alive = [max(0, left - 1) for left in alive]
            issued += 1
    return issued


def cheaper(condition, odd, even, branching, selecting):
    total = {"predicate": 0, "branch": 0}
    for batch in batches(condition):
        total["predicate"] += odd + even + selecting
        total["branch"] += branch_cost(batch, odd, even) + branching
    return min(total, key=total.get)
