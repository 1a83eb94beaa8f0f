"""A right answer of another hand: NumPy, whole warps padded with nobody."""

import numpy as np


def _rows(values, fill):
    values = np.asarray(values)
    return np.append(values, [fill] * (-len(values) % 32)).reshape(-1, 32)


def branch_cost(condition, odd, even):
    holds = np.asarray([bool(c) for c in condition], dtype=int)
    wants_odd = _rows(holds, 0).max(axis=1, initial=0)
    wants_even = 1 - _rows(holds, 1).min(axis=1, initial=1)
    return float((wants_odd * odd + wants_even * even).sum())


def expected_cost(p, odd, even):
    nobody, everybody = np.power(1 - p, 32), np.power(p, 32)
    both = 1 - nobody - everybody
    return float(nobody * even + everybody * odd + both * (odd + even))


def efficiency(condition, odd, even):
    entering = sum(map(bool, condition))
    lanes = entering * odd + (len(condition) - entering) * even
    return lanes / branch_cost(condition, odd, even) / 32


def loop_cost(trips):
    return int(_rows(trips, 0).max(axis=1, initial=0).sum())


def cheaper(condition, odd, even, branching, selecting):
    warps = -(-len(condition) // 32)
    saved = (odd + even + selecting - branching) * warps - branch_cost(condition, odd, even)
    return "branch" if saved > 0 else "predicate"
