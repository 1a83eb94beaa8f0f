"""Lesson 10, task 3: many ops as one kernel."""

from dataclasses import replace
from random import Random

import pytest

from curriculum.lesson_10 import accountant
from references.roofline import Kernel, Op, moved

SIZES = {"a": 100, "b": 10, "c": 100, "d": 100, "e": 40, "f": 7}


def op(name, inputs, outputs, flops=1, dtype="fp32"):
    """An op that knows the sizes of its own tensors, and of no others."""
    sizes = {tensor: SIZES[tensor] for tensor in (*inputs, *outputs)}
    return Op(name, tuple(inputs), tuple(outputs), sizes, flops, dtype)


CHAINS = {  # ops, keep, what is dropped
    "one op": ([op("p", "ab", "c")], "", ""),
    "two in a row": ([op("p", "a", "c"), op("q", "c", "d")], "", "c"),
    "an input that two ops read": ([op("p", "ab", "c"), op("q", "cb", "d")], "", "c"),
    "an op that reads one tensor twice": ([op("p", "aa", "c"), op("q", "cc", "d")], "", "c"),
    "a tensor that somebody else wants": ([op("p", "a", "c"), op("q", "c", "d")], "c", ""),
    "the result is kept anyway": ([op("p", "a", "c"), op("q", "c", "d")], "d", "c"),
    "a result that nobody reads": ([op("p", "a", "ce"), op("q", "c", "d")], "", "c"),
    "a tensor that two ops read": (
        [op("p", "a", "c"), op("q", "c", "d"), op("r", "cd", "e")],
        "",
        "cd",
    ),
    "a tensor that waits for the op after next": (
        [op("p", "a", "c"), op("q", "b", "d"), op("r", "cd", "e")],
        "",
        "cd",
    ),
    "two that have nothing to do with each other": ([op("p", "a", "c"), op("q", "b", "e")], "", ""),
}


def told(chain, keep):
    steps = ", ".join(f"{o.name}({', '.join(o.inputs)}) → {', '.join(o.outputs)}" for o in chain)
    sizes = {name: o.sizes[name] for o in chain for name in (*o.inputs, *o.outputs)}
    return f"{steps}; keep {sorted(keep)}; bytes {sizes}"


@pytest.mark.task(3)
@pytest.mark.parametrize("name", CHAINS)
def test_what_one_kernel_makes_and_uses_up_is_dropped(name):
    chain, keep, wanted = CHAINS[name]
    checked_dropped(name, chain, set(keep), set(wanted))


def checked_dropped(name, chain, keep, wanted):
    got = accountant.dropped(chain, keep)
    if not isinstance(got, (set, frozenset)):
        pytest.fail(f"dropped returned {got!r}, which is no set", pytrace=False)
    said = f"{name}: {told(chain, keep)}\n  dropped {sorted(got)}, not {sorted(wanted)}"
    assert got == wanted, said


@pytest.mark.task(3)
@pytest.mark.parametrize("name", CHAINS)
def test_a_fused_kernel_moves_what_crosses_its_border(name):
    chain, keep, _ = CHAINS[name]
    checked(fused(chain, set(keep)), chain, set(keep))


def fused(chain, keep=()):
    try:
        return accountant.fuse(chain, keep)
    except KeyError as error:
        said = "an op has the sizes of the tensors that it reads or makes, and of no others"
        pytest.fail(f"{told(chain, keep)}\n  no size of {error}: {said}", pytrace=False)


def checked(got, chain, keep):
    if not isinstance(got, Kernel):
        pytest.fail(f"fuse returned {got!r}, which is no Kernel", pytrace=False)
    said = told(chain, keep)
    wanted = moved(chain, keep)
    assert got.bytes == wanted, f"{said}\n  the fused kernel moves {got.bytes} bytes, not {wanted}"
    flops = sum(o.flops for o in chain)
    assert got.flops == flops, f"{said}\n  {got.flops} FLOPs, not {flops}: fusing saves none"
    assert got.launches == 1, f"{said}\n  {got.launches} launches, not 1"


@pytest.mark.task(3)
def test_a_fused_kernel_has_the_name_and_the_dtype_of_its_ops():
    got = fused([op("bias", "a", "c", 1, "bf16"), op("gelu", "c", "d", 5, "bf16")])
    assert got.name == "bias+gelu", f"the kernel for bias, then gelu is named {got.name!r}"
    assert got.dtype == "bf16", f"ops in bf16, and the fused kernel computes in {got.dtype!r}"


def random_chain(random):
    """Ops that each read a few of the tensors there are, and make one or two new ones."""
    names = [f"x{i}" for i in range(random.randint(1, 4))]
    sizes = {name: random.randint(1, 1000) for name in names}
    chain = []
    for i in range(random.randint(1, 7)):
        inputs = tuple(random.choices(names, k=random.randint(1, 3)))
        outputs = tuple(f"t{i}{j}" for j in range(random.choice([1, 1, 1, 2])))
        sizes |= {name: random.randint(1, 1000) for name in outputs}
        own = {name: sizes[name] for name in (*inputs, *outputs)}
        chain.append(Op(f"op{i}", inputs, outputs, own, random.randint(0, 99)))
        names += outputs
    made = [name for o in chain for name in o.outputs]
    return chain, set(random.sample(made, random.randint(0, len(made) // 2)))


@pytest.mark.task(3)
def test_any_chain_moves_what_a_kernel_with_endless_registers_would():
    random = Random(3)
    for _ in range(400):
        chain, keep = random_chain(random)
        checked(fused(chain, keep), chain, keep)
        made = {name for o in chain for name in o.outputs}
        wanted = {name for o in chain for name in o.inputs if name in made and name not in keep}
        checked_dropped("a chain by chance", chain, keep, wanted)


@pytest.mark.task(3)
def test_fusing_more_never_moves_more():
    random = Random(33)
    for _ in range(200):
        chain, _ = random_chain(random)
        cut = random.randint(0, len(chain))
        first, second = chain[:cut], chain[cut:]
        later = {name for o in second for name in o.inputs}
        # Only one kernel for both may drop what the first part makes and the second alone reads.
        halves = (first, later), (second, ())
        parts = sum(fused(part, keep).bytes for part, keep in halves if part)
        whole = fused(chain).bytes
        said = f"{told(chain, ())}, cut behind op {cut}"
        assert whole <= parts, f"{said}\n  one kernel moves {whole} bytes, two {parts}"


@pytest.mark.task(3)
def test_twice_as_large_tensors_move_twice_the_bytes():
    random = Random(333)
    for _ in range(50):
        chain, keep = random_chain(random)
        doubled = ({name: 2 * size for name, size in o.sizes.items()} for o in chain)
        large = [replace(o, sizes=sizes) for o, sizes in zip(chain, doubled, strict=True)]
        once, twice = fused(chain, keep).bytes, fused(large, keep).bytes
        said = f"{told(chain, keep)}\n  {once} bytes, and {twice} at twice the size"
        assert twice == 2 * once, said
