"""What `gpu.py` measures: for each solution its input, its peer, its least work, its error.

Lessons 03 to 09; `gpu_rows_serving.py` has the rows of lessons 10 to 13.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

ROWS: list["Row"] = []


@dataclass
class Work:
    """One problem on the GPU.

    ours, theirs  the solution and what an engineer would call instead; both return their result
    bytes         the fewest that must be read and written in memory
    operations    floating-point operations, or 0 where they do not matter
    allowed       the largest difference between the two results, absolute
    """

    ours: Callable[[], Tensor]
    theirs: Callable[[], Tensor]
    bytes: int
    allowed: float
    operations: int = 0
    tensor_cores: bool = False

    def apart(self) -> float:
        """The largest difference between the two results."""
        ours, theirs = self.ours(), self.theirs()
        return float((ours.double().reshape(-1) - theirs.double().reshape(-1)).abs().max())


@dataclass
class Row:
    name: str
    lesson: int
    peer: str
    shape: str
    make: Callable[[], Work]


def row(name: str, lesson: int, peer: str, shape: str) -> Callable[[Callable[[], Work]], None]:
    """Add a row whose work is made when its turn comes."""

    def add(make: Callable[[], Work]) -> None:
        ROWS.append(Row(name, lesson, peer, shape, make))

    return add


def floats(*shape: int) -> Tensor:
    return torch.rand(*shape, device="cuda")


@row("vec_add", 3, "torch.add(out=)", "2^26 float32")
def _() -> Work:
    from curriculum.lesson_03 import host

    a, b, c = floats(3, 1 << 26)
    return Work(lambda: host.vec_add(a, b), lambda: torch.add(a, b, out=c), 12 << 26, 0.0)


@row("vec_add_four", 3, "torch.add(out=)", "2^26 float32")
def _() -> Work:
    from curriculum.lesson_03 import host

    a, b, c = floats(3, 1 << 26)
    return Work(lambda: host.vec_add_four(a, b), lambda: torch.add(a, b, out=c), 12 << 26, 0.0)


@row("strided_copy, stride 1", 4, "Tensor.copy_", "2^27 float32")
def _() -> Work:
    from curriculum.lesson_04 import host

    n = 1 << 27
    x, y = floats(n), torch.empty(n, device="cuda")
    return Work(lambda: host.strided_copy(x, n, 1), lambda: y.copy_(x), 8 * n, 0.0)


@row("copy_vec4", 4, "Tensor.copy_", "2^27 float32")
def _() -> Work:
    from curriculum.lesson_04 import host

    n = 1 << 27
    x, y, z = floats(n), torch.empty(n, device="cuda"), torch.empty(n, device="cuda")

    def ours() -> Tensor:
        host.copy_vec4(x, y)
        return y

    return Work(ours, lambda: z.copy_(x), 8 * n, 0.0)


@row("col_sum", 4, "Tensor.sum(0)", "8192 × 8192 float32")
def _() -> Work:
    from curriculum.lesson_04 import host

    a = floats(8192, 8192)
    return Work(lambda: host.col_sum(a), lambda: a.sum(0), 4 << 26, 0.05)


for _side in ("read", "write"):

    @row(f"transpose_{_side}_rows", 4, "Tensor.copy_", "8192 × 8192 float32")
    def _(side: str = _side) -> Work:
        return _transposed(4, lambda host, a: host.transpose(a, side))


for _tile in (32, 64):

    @row(f"transpose_tiled, side {_tile}", 5, "Tensor.copy_", "8192 × 8192 float32")
    def _(tile: int = _tile) -> Work:
        return _transposed(5, lambda host, a: host.transpose_tiled(a, tile))


def _transposed(lesson: int, call: Callable[..., Tensor]) -> Work:
    """A transpose beside a plain copy of as many bytes: what it would reach if it were free."""
    if lesson == 4:
        from curriculum.lesson_04 import host
    else:
        from curriculum.lesson_05 import host  # type: ignore[no-redef]
    a = floats(8192, 8192)
    b = torch.empty_like(a)
    work = Work(lambda: call(host, a), lambda: b.copy_(a), 8 << 26, 0.0)
    work.apart = lambda: float((work.ours() - a.t()).abs().max())  # type: ignore[method-assign]
    return work


PRODUCTS: dict[str, Callable[..., Tensor]] = {
    "matmul_naive": lambda host, a, b: host.matmul_naive(a, b),
    "matmul_tiled, 32": lambda host, a, b: host.matmul_tiled(a, b, 32),
    "matmul_regtile, 4 × 4": lambda host, a, b: host.matmul_regtile(a, b, 4),
    "matmul_regtile, 8 × 8": lambda host, a, b: host.matmul_regtile(a, b, 8),
    "matmul_buffered, 8 × 8": lambda host, a, b: host.matmul_buffered(a, b, 8),
}
for _name, _multiply in PRODUCTS.items():

    @row(_name, 5, "cuBLAS, no TF32", "4096³ float32")
    def _(multiply: Callable[..., Tensor] = _multiply) -> Work:
        from curriculum.lesson_05 import host

        a, b = floats(2, 4096, 4096)
        c = torch.empty_like(a)
        return Work(
            lambda: multiply(host, a, b),
            lambda: torch.matmul(a, b, out=c),
            12 << 24,
            0.02,
            operations=2 << 36,
        )


@row("sum_atomic", 7, "torch.sum", "2^28 float32")
def _() -> Work:
    from curriculum.lesson_07 import host

    x = floats(1 << 28)
    return Work(lambda: host.sum_atomic(x), lambda: x.sum(), 4 << 28, 2000.0)


@row("sum_two_pass", 7, "torch.sum", "2^28 float32")
def _() -> Work:
    from curriculum.lesson_07 import host

    x = floats(1 << 28)
    return Work(lambda: host.sum_two_pass(x), lambda: x.sum(), 4 << 28, 2000.0)


@row("softmax_row", 7, "torch.softmax", "4096 × 4096 float32")
def _() -> Work:
    from curriculum.lesson_07 import host

    x = torch.randn(4096, 4096, device="cuda")
    return Work(lambda: host.softmax_row(x), lambda: torch.softmax(x, 1), 8 << 24, 1e-6)


@row("copy4, 4 under way", 8, "Tensor.copy_", "2^27 float32")
def _() -> Work:
    from curriculum.lesson_08 import host

    n = 1 << 27
    x, y = floats(n), torch.empty(n, device="cuda")
    return Work(lambda: host.copy(x, 4, 132 * 8), lambda: y.copy_(x), 8 * n, 0.0)


TENSOR_PRODUCTS: dict[str, Callable[..., Tensor]] = {
    "wmma_gemm": lambda host, a, b: host.wmma_gemm(a, b),
    "wmma_gemm_pad": lambda host, a, b: host.wmma_gemm_pad(a, b),
    "gemm_two_stages, 4 × 2": lambda host, a, b: host.gemm_two_stages(a, b, 4, 2),
    "gemm_fast, 4 × 8": lambda host, a, b: host.gemm_fast(a, b, 4, 8),
}
for _name, _multiply in TENSOR_PRODUCTS.items():

    @row(_name, 9, "cuBLAS", "4096³ float16")
    def _(multiply: Callable[..., Tensor] = _multiply) -> Work:
        from curriculum.lesson_09 import host

        a, b = floats(2, 4096, 4096).half() - 0.5
        c = torch.empty_like(a)
        return Work(
            lambda: multiply(host, a, b),
            lambda: torch.matmul(a, b, out=c),
            8 << 24,
            0.1,
            operations=2 << 36,
            tensor_cores=True,
        )
