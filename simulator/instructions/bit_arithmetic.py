"""Shifts, bit fields and permutations: NumPy lacks them, or leaves wide shifts undefined."""

import numpy as np

from simulator.instructions.rows import Compute, Operation, Spelling, Unit
from simulator.types import Values, choose, unsigned

HALF = np.uint64(32)
NOWHERE = np.uint32(0xFFFFFFFF)


def width(lanes: Values) -> int:
    return 8 * int(lanes.dtype.itemsize)


def shift_left(a: Values, amount: Values) -> Values:
    """An amount past the width leaves 0; NumPy leaves it undefined."""
    bits, number = width(a), a.dtype.type
    if amount.ndim == 0:
        return a << number(amount) if amount < bits else a & number(0)
    return (a << (amount & np.uint32(bits - 1)).astype(a.dtype)) * (amount < bits)


def shift_right(a: Values, amount: Values) -> Values:
    """An amount past the width leaves 0, or copies of the sign."""
    bits, number = width(a), a.dtype.type
    if a.dtype.kind == "i":
        return a >> np.minimum(amount, np.uint32(bits - 1)).astype(a.dtype)
    if amount.ndim == 0:
        return a >> number(amount) if amount < bits else a & number(0)
    return (a >> (amount & np.uint32(bits - 1)).astype(a.dtype)) * (amount < bits)


def _funnel(low: Values, high: Values) -> Values:
    return high.astype(np.uint64) << HALF | low


def funnel_left_wrap(low: Values, high: Values, amount: Values) -> Values:
    """The upper word of high:low shifted left, by the amount modulo 32."""
    return (_funnel(low, high) << (amount & np.uint32(31)) >> HALF).astype(np.uint32)


def funnel_left_clamp(low: Values, high: Values, amount: Values) -> Values:
    """As wrap, but 32 and more all count as 32."""
    return (_funnel(low, high) << np.minimum(amount, np.uint32(32)) >> HALF).astype(np.uint32)


def funnel_right_wrap(low: Values, high: Values, amount: Values) -> Values:
    """The lower word of high:low shifted right, by the amount modulo 32."""
    return (_funnel(low, high) >> (amount & np.uint32(31))).astype(np.uint32)


def funnel_right_clamp(low: Values, high: Values, amount: Values) -> Values:
    return (_funnel(low, high) >> np.minimum(amount, np.uint32(32))).astype(np.uint32)


def _low_mask(word: Values, length: Values) -> Values:
    """Ones in the low `length` bits of a word of this type; all ones past the width."""
    one = word.dtype.type(1)
    return shift_left(one + (length & np.uint32(0)).astype(word.dtype), length) - one


def _field_number(word: Values, number: Values) -> Values:
    """A field's place or length: of 32-bit words the hardware looks at 8 bits of it. What takes
    its place for 64-bit words looks at all."""
    if word.dtype.itemsize == 4:
        return number & np.uint32(0xFF)
    return np.minimum(number, np.uint32(width(word)))


def extract_field(a: Values, position: Values, length: Values) -> Values:
    """`bfe`: the field at position, extended by zeros or (signed) by the highest bit it has."""
    word = unsigned(a)
    position, length = _field_number(word, position), _field_number(word, length)
    inside = _low_mask(word, length) & shift_right(~word.dtype.type(0) | word, position)
    field = shift_right(word, position) & inside
    if a.dtype.kind == "u":
        return field
    top = np.minimum(position + length - (length > 0), np.uint32(width(a) - 1))
    negative = (shift_right(word, top) & word.dtype.type(1)) * (length > 0)
    return (field | ~inside * negative).view(a.dtype)


def insert_field(a: Values, b: Values, position: Values, length: Values) -> Values:
    """`bfi`: the low `length` bits of a over those of b at position; bits past the top are lost."""
    position, length = _field_number(a, position), _field_number(a, length)
    mask = shift_left(_low_mask(a, length), position)
    return (b & ~mask) | (shift_left(a, position) & mask)


def mask_wrap(position: Values, length: Values) -> Values:
    """`bmsk`: ones in `length` bits from position up; both count modulo 32."""
    position, length = position & np.uint32(31), length & np.uint32(31)
    return shift_left(_low_mask(position, length), position)


def mask_clamp(position: Values, length: Values) -> Values:
    """As wrap, but 32 and more all count as 32."""
    return shift_left(_low_mask(position, length), position)


def extend_wrap(a: Values, length: Values) -> Values:
    """`szext`: the low bits of a, extended by zeros or by the highest of them."""
    return _extend(a, length & np.uint32(31))


def extend_clamp(a: Values, length: Values) -> Values:
    return _extend(a, np.minimum(length, np.uint32(32)))


def _extend(a: Values, length: Values) -> Values:
    return extract_field(a, length & np.uint32(0), length)


def find_nth_set(mask: Values, base: Values, offset: Values) -> Values:
    """`fns`: where the offset-th 1 is, counted from bit `base` on, upwards or (negative) downwards;
    0 asks for the bit at base itself. 0xffffffff if there is none."""
    places = np.arange(32, dtype=np.uint32)
    bits = (mask[..., None] >> places & np.uint32(1)).astype(np.int64)  # [lanes, 32]
    start, steps = base.astype(np.int64)[..., None], offset.astype(np.int64)[..., None]
    upwards = np.cumsum(bits * (places >= start), axis=-1)
    downwards = np.cumsum((bits * (places <= start))[..., ::-1], axis=-1)[..., ::-1]
    counted = choose(steps > 0, upwards, -downwards)
    found = (bits == 1) & (counted == steps) & choose(steps > 0, places >= start, places <= start)
    found |= (steps == 0) & (bits == 1) & (places == start)
    place = np.argmax(found, axis=-1).astype(np.uint32)
    return choose(found.any(axis=-1), place, NOWHERE)


def _bit_length(word: Values) -> Values:
    """How many bits the number needs: its highest bit is copied down, then bits are counted."""
    distance = 1
    while distance < width(word):
        word = word | word >> word.dtype.type(distance)
        distance *= 2
    return np.bitwise_count(word).astype(np.uint32)


def count_leading_zeros(a: Values) -> Values:
    return np.uint32(width(a)) - _bit_length(a)


def population_count(a: Values) -> Values:
    return np.bitwise_count(a).astype(np.uint32)  # NumPy counts in uint8


def _magnitude(a: Values) -> Values:
    """`bfind` of a negative number looks for its highest 0, not its highest 1."""
    return a if a.dtype.kind == "u" else unsigned(a ^ (a >> a.dtype.type(width(a) - 1)))


def find_highest_bit(a: Values) -> Values:
    """Position of the highest bit that differs from the sign, 0xffffffff if there is none."""
    return _bit_length(_magnitude(a)) - np.uint32(1)


def shift_to_highest_bit(a: Values) -> Values:
    """`.shiftamt`: how far left that bit is from the top; 0xffffffff if there is none."""
    position = find_highest_bit(a)
    return np.uint32(width(a) - 1) - position | np.uint32(0xFFFFFFFF) * (position > 64)


def reverse_bits(a: Values) -> Values:
    number = a.dtype.type
    for distance, mask in ((1, 0x55), (2, 0x33), (4, 0x0F)):
        low = number(int.from_bytes(bytes([mask]) * a.dtype.itemsize, "little"))
        a = (a & low) << number(distance) | (a >> number(distance)) & low
    return a.byteswap()


def logic_3(a: Values, b: Values, c: Values, table: Values) -> Values:
    """`lop3`: bit `4 a + 2 b + c` of the table, an immediate, for each bit of the operands."""
    entries = int(table if table.ndim == 0 else table[0])
    if entries.bit_count() > 4:
        return ~logic_3(a, b, c, np.uint32(~entries & 0xFF))
    result = (a ^ a) & b & c
    for entry in range(8):
        if entries >> entry & 1:
            row = (a if entry & 4 else ~a) & (b if entry & 2 else ~b) & (c if entry & 1 else ~c)
            result = result | row
    return result


def logic_3_family(spelling: Spelling) -> Operation:
    """`lop3.b32 d, a, b, c, table`, or `lop3.or d|p, a, b, c, table, q`: p = (d != 0) or q."""
    if spelling.types != ("b32",):
        raise spelling.unknown()
    operands = ("b32", "b32", "b32", "u32")
    if spelling.destinations == 1 and not spelling.modifiers:
        return Operation(logic_3, operands, ("b32",), Unit.ALU)
    combine = {"or": np.bitwise_or, "and": np.bitwise_and}[spelling.one_of(("or", "and"))]
    if spelling.destinations != 2 or len(spelling.modifiers) != 1:
        raise spelling.unknown()

    def compute(a: Values, b: Values, c: Values, table: Values, q: Values) -> tuple[Values, Values]:
        result = logic_3(a, b, c, table)
        return result, combine(result != 0, q)

    return Operation(compute, (*operands, "pred"), ("b32", "pred"), Unit.ALU)


def permute_bytes(a: Values, b: Values, selector: Values) -> Values:
    """`prmt`: each nibble picks one of eight bytes; its top bit asks for copies of that sign."""
    if selector.ndim == 0:
        return _permute_alike(a, b, int(selector))
    source = _funnel(a, b)
    result = np.uint32(0)
    for place in range(4):
        nibble = selector >> np.uint32(4 * place)
        start = (nibble & np.uint32(7)) * np.uint32(8)
        picked = (source >> start).astype(np.uint32) & np.uint32(0xFF)
        sign = (picked >> np.uint32(7)) * np.uint32(0xFF)
        replicate = -(nibble >> np.uint32(3) & np.uint32(1))
        result = result | (picked ^ ((picked ^ sign) & replicate)) << np.uint32(8 * place)
    return result


def _permute_alike(a: Values, b: Values, selector: int) -> Values:
    """One selector for all lanes: shifts and masks that are known beforehand."""
    result = (a ^ a) & b
    for place in range(4):
        nibble = selector >> 4 * place & 0xF
        word, byte = (b if nibble & 4 else a), nibble & 3
        picked = word >> np.uint32(8 * byte) & np.uint32(0xFF)
        if nibble & 8:
            picked = (picked >> np.uint32(7)) * np.uint32(0xFF)
        result = result | picked << np.uint32(8 * place)
    return result


def _permute_by(selectors: tuple[int, int, int, int]) -> Compute:
    """A mode of `prmt`: the two low bits of the third operand choose among four selectors."""
    table = np.array(selectors, np.uint32)
    return lambda a, b, mode: permute_bytes(a, b, table[mode & np.uint32(3)])


permute_forward = _permute_by((0x3210, 0x4321, 0x5432, 0x6543))  # .f4e
permute_backward = _permute_by((0x5670, 0x6701, 0x7012, 0x0123))  # .b4e
replicate_byte = _permute_by((0x0000, 0x1111, 0x2222, 0x3333))  # .rc8
replicate_half = _permute_by((0x1010, 0x3232, 0x1010, 0x3232))  # .rc16
clamp_left = _permute_by((0x3210, 0x3211, 0x3222, 0x3333))  # .ecl
clamp_right = _permute_by((0x0000, 0x1110, 0x2210, 0x3210))  # .ecr
