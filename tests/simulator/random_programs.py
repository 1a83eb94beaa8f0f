"""Random kernels and what they compute, from one drawing: CUDA C++ and plain Python side by side.

A thread in Python is a generator: it yields where the kernel has a barrier or a shuffle, and all
threads of the block go on together.
"""

import random

MASK = 0xFFFFFFFF
VARIABLES = ("a", "b", "c", "d")
WORDS = 8  # of the local array


class Program:
    """`source` is CUDA C++; `expected(block, blocks)` gives y [blocks * block]."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.c, self.python = [], []
        self.loops = self.depth = 0
        self.indent = 1
        for name in VARIABLES:
            self.assign(name, self.expression(1, ("t", "i")))
        for _ in range(self.random.randint(3, 6)):
            self.statement()
            if self.random.random() < 0.5:
                self.meeting()
        self.line("y[i] = a ^ b * 3u ^ c * 5u ^ d * 7u;", "y[i] = (a ^ b * 3 ^ c * 5 ^ d * 7) & M")
        body = "\n".join(self.c)
        self.source = f"""extern "C" __global__ void k(unsigned* y)
{{
    __shared__ unsigned tile[1024];
    unsigned local[{WORDS}] = {{0, 0, 0, 0, 0, 0, 0, 0}};
    unsigned t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
    unsigned a, b, c, d;
{body}
}}"""
        text = "\n".join(self.python)
        scope = {"M": MASK}
        exec(f"def thread(t, n, i, y, tile):\n local = [0] * {WORDS}\n{text}\n yield None", scope)
        self.thread = scope["thread"]

    # ---- writing both languages

    def line(self, c, python):
        self.c.append("    " * self.indent + c)
        self.python.append(" " * self.indent + python)

    def assign(self, name, value):
        self.line(f"{name} = {value[0]};", f"{name} = {value[1]}")

    def block(self, count):
        self.indent += 1
        self.depth += 1
        for _ in range(count):
            self.statement()
        self.indent -= 1
        self.depth -= 1

    def expression(self, depth, names=VARIABLES):
        """(C, Python) of an unsigned 32-bit value."""
        if depth == 0 or self.random.random() < 0.2:
            if self.random.random() < 0.3:
                number = self.random.choice([0, 1, 2, 3, 7, 31, 255, 0x9E3779B9])
                return f"{number}u", f"{number}"
            name = self.random.choice((*names, "t", "i"))
            return name, name
        kind = self.random.choice(
            ["+", "-", "*", "^", "&", "|", "%", "/", ">>", "<<", "?", "local"]
        )
        left, right = self.expression(depth - 1, names), self.expression(depth - 1, names)
        if kind == "local":
            return f"local[{left[0]} % {WORDS}u]", f"local[{left[1]} % {WORDS}]"
        if kind == "?":
            condition = self.condition(names)
            return (
                f"({condition[0]} ? {left[0]} : {right[0]})",
                f"({left[1]} if {condition[1]} else {right[1]})",
            )
        if kind in "%/":
            divisor = self.random.choice([3, 5, 8, 10])
            python = {"%": "%", "/": "//"}[kind]
            return f"({left[0]} {kind} {divisor}u)", f"({left[1]} {python} {divisor})"
        if kind in (">>", "<<"):
            by = self.random.randint(0, 31)
            return f"({left[0]} {kind} {by})", f"(({left[1]} {kind} {by}) & M)"
        return f"({left[0]} {kind} {right[0]})", f"(({left[1]} {kind} {right[1]}) & M)"

    def condition(self, names=VARIABLES):
        left, right = self.expression(1, names), self.expression(1, names)
        compare = self.random.choice(["<", "<=", "==", "!=", ">"])
        low = self.random.choice([2, 3, 7])
        if self.random.random() < 0.5:
            return f"({left[0]} % {low}u {compare} 1u)", f"({left[1]} % {low} {compare} 1)"
        return f"({left[0]} {compare} {right[0]})", f"({left[1]} {compare} {right[1]})"

    # ---- statements

    def statement(self):
        kinds = ["assign"] * 3 + ["local"]
        if self.depth < 3:
            kinds += ["if", "if", "else", "for", "while"]
        if self.loops:
            kinds += ["break", "continue"]
        kinds += ["return"] if self.depth and self.random.random() < 0.15 else []
        getattr(self, "_" + self.random.choice(kinds))()

    def _assign(self):
        self.assign(self.random.choice(VARIABLES), self.expression(2))

    def _local(self):
        where, value = self.expression(1), self.expression(1)
        self.line(
            f"local[{where[0]} % {WORDS}u] = {value[0]};",
            f"local[{where[1]} % {WORDS}] = {value[1]}",
        )

    def _if(self, otherwise=False):
        condition = self.condition()
        self.line(f"if ({condition[0]}) {{", f"if {condition[1]}:")
        self.block(self.random.randint(1, 3))
        if otherwise:
            self.line("} else {", "else:")
            self.block(self.random.randint(1, 3))
        self.c.append("    " * self.indent + "}")

    def _else(self):
        self._if(otherwise=True)

    def _for(self):
        counter = f"k{len(self.c)}"
        turns = self.expression(1)
        limit = self.random.choice([2, 5, 9])
        unroll = self.random.choice(["#pragma unroll 1", ""])
        if unroll:
            self.c.append(unroll)
        self.line(
            f"for (unsigned {counter} = 0; {counter} < {turns[0]} % {limit}u; ++{counter}) {{",
            f"for {counter} in range({limit} - 1):",
        )
        # C looks at the bound in every turn, and the body may change it.
        self.python.append(
            " " * (self.indent + 1) + f"if not {counter} < {turns[1]} % {limit}: break"
        )
        self.loop()

    def _while(self):
        counter = f"k{len(self.c)}"
        condition = self.condition()
        self.line(
            f"for (unsigned {counter} = 0; {counter} < 6u; ++{counter}) {{",
            f"for {counter} in range(6):",
        )
        self.line(f"    if (!{condition[0]}) break;", f" if not {condition[1]}: break")
        self.loop()

    def loop(self):
        self.loops += 1
        self.block(self.random.randint(1, 3))
        self.loops -= 1
        self.c.append("    " * self.indent + "}")

    def _break(self):
        condition = self.condition()
        self.line(f"if ({condition[0]}) break;", f"if {condition[1]}: break")

    def _continue(self):
        condition = self.condition()
        self.line(f"if ({condition[0]}) continue;", f"if {condition[1]}: continue")

    def _return(self):
        self.line("y[i] = a + 17u; return;", "y[i] = (a + 17) & M; return")

    def meeting(self):
        """All threads that are left meet: through shared memory, or in a shuffle."""
        target, value = self.random.choice(VARIABLES), self.expression(1)
        by = self.random.choice([1, 2, 5, 16, 31])
        if self.random.random() < 0.5:
            c, python = (f"tile[t] = {v};" for v in value)
            self.line(f"{c} __syncthreads();", f"{python} yield None")
            taken = f"{target} = tile[(t + {by}) % n];"
            self.line(f"{taken} __syncthreads();", f"{taken} yield None")
        else:
            # A lane whose partner has returned, or never was, reads its own.
            there = f"(int)(__ballot_sync(~0u, true) >> (t & 31 ^ {by}) & 1)"
            self.line(
                f"{target} = __shfl_sync(~0u, {value[0]}, (t & 31) ^ {by} * {there});",
                f"{target} = yield ({value[1]}, {by})",
            )

    # ---- running it in Python

    def expected(self, block, blocks):
        y = [0] * (block * blocks)
        for number in range(blocks):
            tile = [MASK] * 1024
            threads = {t: self.thread(t, block, number * block + t, y, tile) for t in range(block)}
            answers = dict.fromkeys(threads)
            while threads:
                asked = {}
                for t, thread in list(threads.items()):
                    try:
                        asked[t] = thread.send(answers[t])
                    except StopIteration:
                        del threads[t]
                answers = {
                    t: asked.get(t ^ what[1], what)[0] if what else None
                    for t, what in asked.items()
                }
        return y
