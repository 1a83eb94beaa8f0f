"""What the gallery says of Triton kernels, and which programs show it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    title: str
    program: str
    means: str
    cure: str


ENTRIES = [
    Entry(
        "Out of bounds: an unmasked tail",
        "unmasked_tail",
        "A tile has as many elements as its length says, also where the tensor ends before it.",
        "Give each load and store a mask: `mask=offsets < n`.",
    ),
    Entry(
        "Out of bounds: an offset that overflows",
        "offset_in_32_bits",
        "Program ids and `tl.arange` are int32, and so are their products: beyond 2^31 the offset "
        "wraps round and is negative.",
        "Multiply in 64 bits: `tl.program_id(0).to(tl.int64) * stride`.",
    ),
    Entry(
        "Data race: a sum without an atomic",
        "added_without_an_atomic",
        "Programs run at the same time. Between the load and the store of one, another one loads "
        "the same number, and one of the two sums is lost.",
        "`tl.atomic_add`, or partial results that a second launch adds up.",
    ),
    Entry(
        "Data race: a lost update",
        "lost_updates",
        "The same with many places: two programs raise one bin from the same old value.",
        "`tl.atomic_add(counts + which, 1)`.",
    ),
    Entry(
        "Data race: repeated indices",
        "scattered_twice",
        "Elements of one tile go to the same address, and which of them stays is not defined.",
        "Let indices be distinct, or add up with `tl.atomic_add`.",
    ),
    Entry(
        "Data race: within a program",
        "through_scratch_without_a_barrier",
        "A program's elements are spread over threads. What one thread stores another one loads, "
        "and only `tl.debug_barrier()` makes the second wait.",
        "Put `tl.debug_barrier()` between store and load; better, keep the tile and rearrange it "
        "with `tl.trans`, `tl.flip` or `tl.gather`.",
    ),
    Entry(
        "Data race: a lock given back by a store",
        "given_back_by_a_store",
        "A plain store promises no order: the lock may be seen free before what was written "
        "under it.",
        "`tl.debug_barrier()`, then `tl.atomic_xchg(lock, 0)`.",
    ),
    Entry(
        "Data race: a relaxed lock",
        "a_relaxed_lock",
        '`sem="relaxed"` makes the lock\'s own value right and orders nothing else.',
        'Leave `sem=` out, or take with `sem="acquire"` and give back with `sem="release"`.',
    ),
    Entry(
        "Deadlock: waiting for a later program",
        "waits_for_a_later_one",
        "Programs start in no promised order, and not all at once: one that waits for another "
        "may keep it from starting.",
        "Wait for lower ids only, and take ids from a counter where it must hold for sure.",
    ),
    Entry(
        "Undefined value: a masked load without other",
        "summed_without_other",
        "What lies outside of a load's mask is undefined; compilers put zeros there, or not.",
        "`other=0.0` before a sum, `other=float('-inf')` before a maximum.",
    ),
    Entry(
        "Undefined value: a workspace that nobody filled",
        "added_to_fresh_memory",
        "`torch.empty` gives memory as it is found.",
        "`torch.zeros`, or a kernel that stores before it adds.",
    ),
    Entry(
        "Assertion failed",
        "a_false_assertion",
        "A `tl.device_assert` does not hold. It is compiled in where the launch says "
        "`debug=True`.",
        "Look at the values with `tl.device_print`.",
    ),
]

REFUSALS = [
    Entry(
        "break and continue",
        "break_in_a_loop",
        "A loop of a kernel runs all its turns.",
        "Mask what no longer counts, or write the condition into a `while`.",
    ),
    Entry(
        "A loop over a list",
        "loop_over_a_list",
        "`for` goes over `range`, `tl.range` and `tl.static_range`.",
        "Count, and work the values out.",
    ),
    Entry(
        "A variable that changes its type in a loop",
        "int_becomes_float",
        "All turns of a loop are one piece of code: a variable has one type and one shape there.",
        "Begin with a value of the right type.",
    ),
    Entry(
        "tl.dot of tiny tiles",
        "dot_too_small",
        "Tensor cores multiply pieces of 16 × 16.",
        "Take larger tiles and mask them, or multiply and add up by hand.",
    ),
    Entry(
        "A tile of 100",
        "range_of_100",
        "Lengths of tiles are powers of two.",
        "Take the next one, and a mask.",
    ),
    Entry(
        "A length that is known too late",
        "missing_constexpr",
        "A tile's length is part of the code.",
        "Declare the parameter `tl.constexpr`.",
    ),
    Entry(
        "An element of a tile",
        "element_of_a_tile",
        "A tile has no indices: it is spread over the registers of many threads.",
        "Load the element, or reduce with `tl.sum(tl.where(…))`.",
    ),
    Entry(
        "tl.exp of float16",
        "exp_of_half",
        "The hardware's functions take float32.",
        "Widen the tile, and narrow it where it is stored.",
    ),
    Entry(
        "if on a tile",
        "if_on_a_tile",
        "An `if` is one decision of the whole program.",
        "`tl.where`, or a mask.",
    ),
    Entry(
        "A variable of the module",
        "global_variable",
        "The kernel is compiled once; what it takes from outside must not change.",
        "Make it `tl.constexpr`, or pass it.",
    ),
]
