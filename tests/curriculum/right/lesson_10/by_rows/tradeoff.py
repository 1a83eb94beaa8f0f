"""The report from two lists of kernels."""

from collections import namedtuple

from curriculum.lesson_10.accountant import alone, dropped, fuse, roofline_time
from references.roofline import Op

Report = namedtuple("Report", "bytes_before bytes_after round_trips launches_saved speedup")


def fusion_report(chain, hardware, keep=()):
    ways = list(map(alone, chain)), [fuse(chain, keep)]
    (bytes_before, slow), (bytes_after, fast) = (
        (sum(k.bytes for k in way), sum(roofline_time(k, hardware) for k in way)) for way in ways
    )
    fewer = len(ways[0]) - len(ways[1])
    return Report(bytes_before, bytes_after, len(dropped(chain, keep)), fewer, slow / fast)


def bias_gelu_residual(rows, columns):
    elements = rows * columns
    sizes = {"bias": columns * 4}
    chain, last = [], "x"
    for name, more, work in (("bias", ["bias"], 1), ("gelu", [], 5), ("residual", ["other"], 1)):
        made = f"after {name}"
        for tensor in (last, made, *more):
            sizes.setdefault(tensor, elements * 4)
        chain.append(Op(name, (last, *more), (made,), sizes, work * elements))
        last = made
    return chain
