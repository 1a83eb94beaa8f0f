"""Line by line, word by word, without a pattern."""

from collections import Counter, namedtuple

KINDS = ["wgmma.mma_async", "cp.async.bulk.tensor"]
KINDS += ["mbarrier." + word for word in ("arrive.expect_tx", "try_wait")]
Shape = namedtuple("Shape", "M N K")


def lines(ptx):
    """(name, operands) of every instruction."""
    for line in ptx.split("\n"):
        words = line.split("//")[0].split()
        while words and (words[0][0] in "@{" or words[0].endswith(":")):
            words = words[1:]
        if words:
            yield words[0], " ".join(words[1:]).rstrip("; ")


def census(ptx):
    seen = Counter(kind for name, _ in lines(ptx) for kind in KINDS if name.startswith(kind))
    return {kind: seen[kind] for kind in KINDS}


def shapes(ptx):
    found = []
    for name, _ in lines(ptx):
        if name.startswith("wgmma.mma_async"):
            (part,) = [p for p in name.split(".") if p[0] == "m" and p[1:2].isdigit()]
            found.append(Shape(*map(int, part[1:].replace("n", " ").replace("k", " ").split())))
    return found


def sums_per_thread(shape):
    lanes_of_a_row, rows_of_a_thread = 4, shape.M // 32  # 64 rows: 8 groups of lanes in 4 warps
    return shape.N // lanes_of_a_row * rows_of_a_thread


def expected_bytes(ptx):
    (told,) = [rest for name, rest in lines(ptx) if "expect_tx" in name]
    return int(told.split(",")[-1])


def outcome(ptx, rows, columns):
    left = expected_bytes(ptx)
    for name, _ in lines(ptx):
        left -= 2 * rows * columns * name.startswith("cp.async.bulk.tensor")
    return {0: "opens"}.get(left, "hangs" if left > 0 else "early")
