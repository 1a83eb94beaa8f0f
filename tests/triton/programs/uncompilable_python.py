# ruff: noqa: E731, F821, F841  (that is what is wrong with some)
"""Refused for their Python: constructs, names and values that a kernel does not have."""

import numpy as np
import torch
import triton
import triton.language as tl

from tests.triton.programs.refused import refused

FACTOR = 3.0


@refused("break in a loop of a kernel", "mask what no longer counts")
@triton.jit
def break_in_a_loop(x, y, n, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(n):
        v = tl.load(x + i)
        if v > 10:
            break  # error
        total += v
    tl.store(y, total)


@refused("a loop over [1, 2, 4]", "tl.static_range(n)")
@triton.jit
def loop_over_a_list(x, y, n, BLOCK: tl.constexpr):
    total = 0.0
    for i in [1, 2, 4]:  # error
        total += tl.load(x + i)
    tl.store(y, total)


@refused("acc is int32 before the loop, and here it becomes fp32", "acc = 0.0")
@triton.jit
def int_becomes_float(x, y, n, BLOCK: tl.constexpr):
    acc = 0
    for i in range(n):
        acc += tl.load(x + i)  # error
    tl.store(y, acc)


@refused("BLOCK is known only when the kernel runs", "BLOCK: tl.constexpr")
@triton.jit
def missing_constexpr(x, y, n, BLOCK):
    o = tl.arange(0, BLOCK)  # error
    tl.store(y + o, tl.load(x + o))


@refused("ofs is not defined", "assign ofs first")
@triton.jit
def undefined_name(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(y + o, tl.load(x + ofs))  # error


@refused("triton.language has no laod", "is tl.load meant?")
@triton.jit
def undefined_function(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(y + o, tl.laod(x + o))  # error


@refused("missing 1 required positional argument: 'value'")
@triton.jit
def too_few_arguments(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(y + o)  # error


@refused("a list comprehension in a kernel", "pointer + tl.arange(0, BLOCK)")
@triton.jit
def list_comprehension(x, y, n, BLOCK: tl.constexpr):
    v = [tl.load(x + i) for i in range(4)]  # error
    tl.store(y, v[0])


@refused("try in a kernel", "mask what must not happen")
@triton.jit
def try_block(x, y, n, BLOCK: tl.constexpr):
    try:  # error
        v = tl.load(x)
    except ValueError:
        v = 0.0
    tl.store(y, v)


@refused("an f-string of a value", "tl.device_print")
@triton.jit
def print_f_string(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(x)
    print(f"v is {v}")  # error
    tl.store(y, v)


@refused("np.exp works on the host", "tl.exp")
@triton.jit
def numpy_call(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, 16))
    tl.store(y + tl.arange(0, 16), np.exp(v))  # error


@refused("torch.relu works on the host", "tl.maximum(x, 0.0)")
@triton.jit
def torch_call(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, 16))
    tl.store(y + tl.arange(0, 16), torch.relu(v))  # error


@refused("FACTOR is a variable of the module", "FACTOR = tl.constexpr(3.0)")
@triton.jit
def global_variable(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(x)
    tl.store(y, v * FACTOR)  # error


@refused("return inside of a loop", "mask what no longer counts")
@triton.jit
def return_in_the_middle(x, y, n, BLOCK: tl.constexpr):
    for i in range(n):
        if i > 3:
            return  # error
        tl.store(y + i, i)


@triton.jit
def _two_types(v, n):
    if n > 3:
        return v
    else:
        return 1  # error


@refused("_two_types returns fp32 here, and int32 elsewhere", ".to(tl.float32)")
@triton.jit
def return_of_two_types(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, _two_types(tl.load(x), n))  # called


@refused("v is int32 before the if, and here it becomes fp32", "v = 0.0")
@triton.jit
def if_of_two_types(x, y, n, BLOCK: tl.constexpr):
    v = 1
    if n > 3:
        v = tl.load(x)  # error
    tl.store(y, v)


@refused("v may have no value here", "give it one before the if")
@triton.jit
def defined_in_one_arm(x, y, n, BLOCK: tl.constexpr):
    if n > 3:
        v = tl.load(x)
    tl.store(y, v)  # error


@refused("open is Python's, and a kernel has none", "reads and writes tensors only")
@triton.jit
def with_statement(x, y, n, BLOCK: tl.constexpr):
    with open("f") as f:  # error
        tl.store(y, 0.0)


@refused("lambda in a kernel", "@triton.jit above the kernel")
@triton.jit
def lambda_inside(x, y, n, BLOCK: tl.constexpr):
    f = lambda v: v + 1  # error
    tl.store(y, f(tl.load(x)))


@refused("continue in a loop of a kernel", "under an if")
@triton.jit
def continue_in_a_loop(x, y, n, BLOCK: tl.constexpr):
    for i in range(n):
        if i == 2:
            continue  # error
        tl.store(y + i, 0.0)


@refused("sum is Python's, and a kernel has none", "tl.sum")
@triton.jit
def python_builtin(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, sum(tl.load(x + tl.arange(0, 16))))  # error


@refused("a dict in a kernel", "tl.constexpr")
@triton.jit
def dict_inside(x, y, n, BLOCK: tl.constexpr):
    d = {"a": 1}  # error
    tl.store(y, d["a"])


@refused("plain is a function of Python", "@triton.jit above def plain")
@triton.jit
def helper_that_is_no_jit(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, plain(tl.load(x)))  # error


def plain(v):
    return v + 1


@triton.jit
def _halved(v):
    return v.half  # error


@refused("object has no attribute 'half'")
@triton.jit
def mistake_in_a_function_of_a_function(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, _twice_halved(tl.load(x)))  # called


@triton.jit
def _twice_halved(v):
    return _halved(v) + 1  # called


@refused("a kernel returns nothing", "tl.store(pointer, value)")
@triton.jit
def a_kernel_that_returns(x, y, n, BLOCK: tl.constexpr):
    return tl.load(x)  # error


@refused("it_is_no_multiple_of_32")
@triton.jit
def a_false_static_assertion(x, y, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 32 == 0, "it_is_no_multiple_of_32")  # error


@refused("unexpected keyword argument 'msk'", "is mask= meant?")
@triton.jit
def a_misspelt_argument(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, 1.0, msk=n > 0)  # error


@refused("a dtype of torch's in a kernel", "tl.float16 for torch.float16")
@triton.jit
def a_dtype_of_torch(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x).to(torch.float16))  # error
