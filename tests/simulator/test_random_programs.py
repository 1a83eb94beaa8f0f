"""Random kernels, divergent in every way, compute what plain Python computes."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run
from tests.simulator.random_programs import Program


@pytest.mark.parametrize("seed", range(40))
def test_a_random_kernel_agrees_with_python(seed):
    program = Program(seed)
    kernel = compiled(program.source)
    for block, blocks, settings in ((32, 2, {}), (45, 3, {"resident_blocks": 2}), (96, 1, {})):
        y = np.zeros(block * blocks, np.uint32)
        run(kernel, blocks, block, y, faults=False, **settings)
        assert y.tolist() == program.expected(block, blocks), program.source
