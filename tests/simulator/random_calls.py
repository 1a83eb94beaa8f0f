"""Random programs of functions that call each other: as CUDA C++, and as Python to compare with."""

import random

WORD = 0xFFFF_FFFF
FUNCTIONS = 4


class CallProgram:
    """Functions f0 .. f3 of a value and of how much deeper they may go; the kernel starts them.

    source    CUDA C++: `k(unsigned* y)`, one thread an element
    expected  what thread t writes
    """

    def __init__(self, seed):
        self._pick = random.Random(seed)
        names = [f"f{k}" for k in range(FUNCTIONS)]
        functions = [self._function(name) for name in names]
        declared = "\n".join(f"__device__ __noinline__ unsigned {n}(unsigned, int);" for n in names)
        defined = "\n".join(cuda for cuda, _ in functions)
        self.source = f"""typedef unsigned (*Function)(unsigned, int);
{declared}
__device__ Function table[{FUNCTIONS}] = {{{", ".join(names)}}};
{defined}
extern "C" __global__ void k(unsigned* y)
{{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, v = t * 2654435761u;
    for (int k = 0; k < {FUNCTIONS}; ++k) {{
        v = v * 31 + table[(v >> 3) % {FUNCTIONS}](v, t % 4);
        __syncthreads();
    }}
    y[t] = v + f0(t, 2);
}}"""
        self._scope = {}
        exec("\n".join(python for _, python in functions), self._scope)
        self._scope["table"] = [self._scope[name] for name in names]

    def expected(self, t):
        v, table = t * 2654435761 & WORD, self._scope["table"]
        for _ in range(FUNCTIONS):
            v = v * 31 + table[(v >> 3) % FUNCTIONS](v, t % 4) & WORD
        return v + table[0](t, 2) & WORD

    def _function(self, name):
        """(CUDA, Python) of a function with an array of its own."""
        factor = self._pick.randrange(3, 99)
        steps = [self._step() for _ in range(self._pick.randrange(2, 6))]
        cuda = f"__device__ __noinline__ unsigned {name}(unsigned v, int fuel)\n{{\n"
        cuda += f"    unsigned a[4] = {{v, v * {factor}, (unsigned)fuel, 7}};\n"
        python = f"def {name}(v, fuel):\n    v &= {WORD}\n"
        python += f"    a = [v, v * {factor} & {WORD}, fuel, 7]\n"
        cuda += "".join(f"    {line}\n" for line, _ in steps) + "    return a[v & 3] + v;\n}"
        python += "".join(f"    {line}\n" for _, line in steps)
        return cuda, python + f"    return a[v & 3] + v & {WORD}"

    def _step(self):
        """(CUDA, Python) of one line: calls that recurse, calls through the table, loops, exits."""
        n, m, at = (self._pick.randrange(*r) for r in ((2, 6), (1, 50), (0, 4)))
        kind = self._pick.choice(["call", "table", "loop", "leave", "mix"])
        if kind == "call":
            called = f"f{at}(v + {m}, fuel - 1)"
            return (
                f"if (fuel > 0 && v % {n} != 0) a[{at}] += {called};",
                f"if fuel > 0 and v % {n} != 0: a[{at}] = a[{at}] + {called} & {WORD}",
            )
        if kind == "table":
            called = f"table[(v >> {m % 9}) % {FUNCTIONS}](a[v & 3] ^ {m}, fuel - 1)"
            return (
                f"if (fuel > 0) v = v * {n} + {called};",
                f"if fuel > 0: v = v * {n} + {called} & {WORD}",
            )
        if kind == "loop":
            called = f"f{at}(v + k, fuel - 2)"
            return (
                f"for (unsigned k = 0; k < v % {n}; ++k) "
                f"a[k & 3] += k * {m} + (fuel > 1 ? {called} : 3u);",
                f"for k in range(v % {n}): "
                f"a[k & 3] = a[k & 3] + k * {m} + ({called} if fuel > 1 else 3) & {WORD}",
            )
        if kind == "leave":
            return (
                f"if (v % {n + 5} == 0) return a[{at}] * {m};",
                f"if v % {n + 5} == 0: return a[{at}] * {m} & {WORD}",
            )
        return (
            f"a[v & 3] = (a[{at}] >> {n}) ^ (v * {m}); v += a[(v + {m}) & 3];",
            f"a[v & 3] = (a[{at}] >> {n}) ^ (v * {m} & {WORD}); v = v + a[(v + {m}) & 3] & {WORD}",
        )
