"""The cases of warp instructions: shuffle, vote, match, reduce, and a block's votes."""

from itertools import product

from benchmarks.opcodes.cases import LANES, Case

_PART = ".reg .b32 %mask;"
# The lanes whose second predicate holds go on with a mask that names them alone.
_DIVERGED = (
    "{before} vote.sync.ballot.b32 %mask, %{chosen}, -1; @!%{chosen} bra done; {text} done: "
)
_BLANK = {"pred": "setp.ne.u32 %x, 0, 0;", "b32": "mov.b32 %x, 0;"}
WIDTHS = (32, 16, 8, 4, 2, 1)
DISTANCES = (0, 1, 2, 3, 7, 16, 31)


def warp_cases() -> list[Case]:
    return [*_shuffles(), *_votes(), *_matches(), *_reductions(), *_of_blocks()]


def _shuffles() -> list[Case]:
    found = []
    for mode in ("up", "down", "bfly", "idx"):
        opcode = f"shfl.sync.{mode}.b32"
        inputs = ("b32", "b32", "segment:b32")
        with_predicate = (f"{opcode} %x|%y, %a, %b, %c, -1;",)
        found.append(Case(f"{opcode} p", "shfl", with_predicate, inputs, ("b32", "pred")))
        found.append(Case(opcode, "shfl", (f"{opcode} %x, %a, %b, %c, -1;",), inputs, ("b32",)))
        # Every lane its own segments.
        found.append(
            Case(f"{opcode} p lanes", "shfl", with_predicate, ("b32",) * 3, ("b32", "pred"))
        )
        bodies = tuple(
            f"{opcode} %x|%y, %a, {by}, {(32 - width) << 8 | (0 if mode == 'up' else 31)}, -1;"
            for width, by in product(WIDTHS, DISTANCES)
        )
        lanes = -(-LANES // len(bodies) // 256) * 256
        outputs = ("b32", "pred")
        found.append(Case(f"{opcode} p immediate", "shfl", bodies, ("b32",), outputs, lanes))
    return found


def _both_ways(
    opcode: str, row: str, text: str, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> list[Case]:
    """By whole warps, and by the lanes that a predicate chooses; `text` has `{mask}`."""
    chosen = "abcdefg"[len(inputs)]
    before = _BLANK["pred" if outputs[0] == "pred" else "b32"]
    if len(outputs) > 1:
        before += " setp.ne.u32 %y, 0, 0;"
    diverged = _DIVERGED.format(before=before, chosen=chosen, text=text.format(mask="%mask"))
    whole = text.format(mask="-1")
    return [
        Case(opcode, row, (whole,), inputs, outputs),
        Case(f"{opcode} diverged", row, (diverged,), (*inputs, "pred"), outputs, registers=_PART),
    ]


def _votes() -> list[Case]:
    found = []
    for mode, result in (("all", "pred"), ("any", "pred"), ("uni", "pred"), ("ballot", "b32")):
        opcode = f"vote.sync.{mode}.{result}"
        text = f"{opcode} %x, %a, {{mask}};"
        found += _both_ways(opcode, "vote", text, ("agreed:pred",), (result,))
    text = "activemask.b32 %x;"
    found += _both_ways("activemask.b32", "activemask", text, ("pred",), ("b32",))
    return found


def _matches() -> list[Case]:
    found = []
    for mode, width in product(("any", "all"), ("b32", "b64")):
        opcode, inputs = f"match.{mode}.sync.{width}", (f"agreed:{width}",)
        text = f"{opcode} %x, %a, {{mask}};"
        found += _both_ways(opcode, "match", text, inputs, ("b32",))
        if mode == "all":
            text = f"{opcode} %x|%y, %a, {{mask}};"
            found += _both_ways(f"{opcode} p", "match", text, inputs, ("b32", "pred"))
    return found


def _reductions() -> list[Case]:
    modes = [*product(("add", "min", "max"), ("u32", "s32"))]
    modes += [(mode, "b32") for mode in ("and", "or", "xor")]
    found = []
    for mode, type_name in modes:
        opcode = f"redux.sync.{mode}.{type_name}"
        text = f"{opcode} %x, %a, {{mask}};"
        found += _both_ways(opcode, "redux", text, (type_name,), (type_name,))
    return found


def _of_blocks() -> list[Case]:
    modes = (("popc", "u32"), ("and", "pred"), ("or", "pred"))
    return [
        Case(f"bar.red.{m}.{t}", "bar", (f"bar.red.{m}.{t} %x, 0, %a;",), ("agreed:pred",), (t,))
        for m, t in modes
    ]
