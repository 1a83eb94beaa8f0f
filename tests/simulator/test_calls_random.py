"""Random programs that recurse and call through a table give what Python gives."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run
from tests.simulator.random_calls import CallProgram


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_of_calls(seed):
    program = CallProgram(seed)
    kernel = compiled(program.source, "k")
    assert kernel.entry.functions
    y = np.zeros(3 * 45, np.uint32)
    run(kernel, 3, 45, y)
    assert y.tolist() == [program.expected(t) for t in range(len(y))], program.source
