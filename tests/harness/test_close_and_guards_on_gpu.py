"""What judges an answer works where the answer lies: on the GPU."""

import pytest
import torch

from harness.judging.comparison import Close
from harness.judging.data import rows_of_scale, spread
from harness.judging.guards import BAND, Banded, guarded
from harness.judging.poison import Poison, is_poisoned

pytestmark = pytest.mark.gpu

TYPES = [
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
    *(torch.int64, torch.int32, torch.int16),
]
close = Close()


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(5)


@pytest.mark.parametrize("dtype", TYPES)
def test_fresh_gpu_memory_is_poisoned(dtype):
    with Poison():
        tensors = [
            torch.empty(1000, dtype=dtype, device="cuda"),
            torch.empty_strided((8, 8), (1, 8), dtype=dtype, device="cuda"),
            torch.zeros(10, dtype=dtype, device="cuda").new_empty(7),
        ]
    for x in tensors:
        assert is_poisoned(x).all()


def test_a_captured_graph_gets_no_fill_of_ours():
    x = torch.ones(100, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with Poison(), torch.cuda.graph(graph):
        y = torch.empty_like(x)
        y.copy_(x * 2)
    graph.replay()
    assert torch.equal(y, torch.full_like(x, 2.0))


@pytest.mark.parametrize("dtype", TYPES[:4])
def test_right_answers_pass_and_wrong_ones_fail(dtype, rng):
    x = rows_of_scale(67, 129, rng=rng, dtype=dtype, device="cuda")
    right = torch.softmax(x, dim=1)
    close(right, lambda x: torch.softmax(x, dim=1), x)
    wrong = right.clone()
    wrong[-1] = 0
    with pytest.raises(AssertionError, match="row 66, the last"):
        close(wrong, lambda x: torch.softmax(x, dim=1), x)


def test_an_answer_on_the_cpu_is_told(rng):
    x = spread(10, rng=rng, device="cuda")
    with pytest.raises(AssertionError, match="wrong device"):
        close(x.cpu(), lambda x: x, x)


def test_the_wanted_values_of_equal_may_lie_on_the_cpu():
    x = torch.arange(100, dtype=torch.int32)
    close.equal(x.cuda(), x)
    with pytest.raises(AssertionError, match="100 of 100"):
        close.equal(x.cuda() + 1, x)


@pytest.fixture(params=["allow_tf32", "fp32_precision"])
def tf32(request):
    """TF32 allowed, by torch's older switch and by its newer one."""
    switch = torch.backends.cuda.matmul
    before = getattr(switch, request.param)
    setattr(switch, request.param, True if request.param == "allow_tf32" else "tf32")
    yield lambda: getattr(switch, request.param) in (True, "tf32")
    setattr(switch, request.param, before)


def test_tf32_is_kept_out_of_the_oracle(rng, tf32):
    a, b = (torch.randn(256, 256, generator=rng).cuda() for _ in range(2))
    rounded = a @ b
    with pytest.raises(AssertionError, match="bound"):
        close(rounded, torch.matmul, a, b, sums=True)
    assert tf32()
    close(rounded, torch.matmul, a, b, sums=True, floor=2e-3, because="TF32 is allowed")


@pytest.mark.parametrize("depth", [64, 1024, 8192])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("drawn", [torch.randn, torch.rand])
def test_tensor_cores_stay_within_their_bound(drawn, dtype, depth, rng):
    a, b = (drawn(256, depth, generator=rng).to(dtype).cuda() for _ in range(2))
    got = torch.empty(256, 256, device="cuda")
    torch.mm(a, b.T, out_dtype=torch.float32, out=got)

    def product(a, b):
        return a @ b.T

    close(got, product, a, b, dtype=torch.float32, tensor_core_depth=depth)


def test_a_guarded_input_lies_between_bands():
    x = torch.arange(5.0, device="cuda")
    with guarded(x) as (inside,):
        assert torch.equal(inside, x)
        assert inside.data_ptr() % 256 == 0
    with pytest.raises(AssertionError, match="wrote outside input 0"), guarded(x) as (inside,):
        beyond = inside.as_strided((6,), (1,))
        beyond[5] = 1.0
    banded = Banded(x)
    banded.storage[BAND - 1] = 0
    with pytest.raises(AssertionError, match="ahead of its start"):
        banded.check("out")
