"""The pictures of lesson 13: memory kept and memory used, and two tables that share blocks."""

from harness.drawing.canvas import BLUE, GREEN, GREY, INK, ON_PAINT, ORANGE, Canvas

_SLOT = 22.0  # pixels of one token
_SIZE = 4  # tokens of a block


def reserved_and_paged() -> Canvas:
    """Four sequences: a buffer for each as long as the longest allowed, and blocks."""
    canvas = Canvas("Four sequences with a buffer of 32 tokens each, and the same in blocks of 4")
    tokens, colours, longest = (9, 3, 14, 6), (BLUE, ORANGE, GREEN, GREY), 32
    cell, left = 11.0, 60.0
    canvas.text(left, 10, "32 slots kept for each: 32 of 128 are used", anchor="start", bold=True)
    for row, (count, colour) in enumerate(zip(tokens, colours, strict=True)):
        y = 24 + 24.0 * row
        canvas.text(left - 12, y + 9, "ABCD"[row], anchor="end", bold=True, colour=colour)
        canvas.rectangle(left, y, longest * cell, 18, radius=0)
        canvas.rectangle(left, y, count * cell, 18, colour, outline=None, radius=0)
    x, y = 470.0, 24.0
    canvas.text(x, 10, "blocks of 4: 32 of 40", anchor="start", bold=True)
    order = [0, 2, 1, 0, 2, 3, 2, 0, 3, 2]  # whose block was taken when
    order.insert(4, -1)
    left_over = list(tokens)
    for k, owner in enumerate(order):
        bx, by = x + (k % 4) * (4 * cell + 8), y + (k // 4) * 24
        canvas.rectangle(bx, by, 4 * cell, 18, radius=0)
        if owner >= 0:
            used = min(_SIZE, left_over[owner])
            left_over[owner] -= used
            canvas.rectangle(bx, by, used * cell, 18, colours[owner], outline=None, radius=0)
    canvas.text(x, y + 82, "one block of these is free", anchor="start")
    return canvas


def tables_that_share() -> Canvas:
    """A and its fork B: one full block in common, a last block of each one's own."""
    canvas = Canvas("Two block tables, the physical blocks that they name, and the copy on write")
    names = ("A, 7 tokens", "B = A.fork(), then 2 more")
    tables = ((2, 5), (2, 0, 6))
    colours = (BLUE, ORANGE)
    words = {
        2: ("a", "b", "c", "d"),
        5: ("e", "f", "g", ""),
        0: ("e", "f", "g", "h"),
        6: ("i", "", "", ""),
    }
    entry, height, right = 44.0, 30.0, 400.0
    place = {}  # of each physical block
    for block in range(7):
        y = 26.0 + block * (height + 8)
        place[block] = y + height / 2
        canvas.text(right - 12, y + height / 2, str(block), anchor="end", code=True)
        for i in range(_SIZE):
            said = words.get(block, ("",) * _SIZE)[i]
            owner = GREEN if block == 2 else BLUE if block == 5 else ORANGE
            paint = owner if said else None
            x = right + i * 1.6 * _SLOT
            canvas.rectangle(x, y, 1.6 * _SLOT, height, paint, radius=0)
            if said:
                canvas.text(x + 0.8 * _SLOT, y + height / 2, said, colour=ON_PAINT, code=True)
        if block not in words:
            canvas.text(right + 6.4 * _SLOT + 12, y + height / 2, "free", anchor="start")
    notes = {2: "2 users", 5: "A's last block", 0: "copied from 5, before h", 6: "B's last block"}
    for block, said in notes.items():
        canvas.text(right + 6.4 * _SLOT + 12, place[block], said, anchor="start")
    canvas.text(right, 10, "physical blocks of 4 tokens", anchor="start", bold=True)
    top = 26.0
    for name, table, colour in zip(names, tables, colours, strict=True):
        canvas.text(40, top, name, anchor="start", bold=True, colour=colour)
        for i, block in enumerate(table):
            y = top + 16 + 26 * i
            canvas.text(32, y + 13, str(i), anchor="end", code=True)
            canvas.rectangle(40, y, entry, 26, radius=0)
            canvas.text(40 + entry / 2, y + 13, str(block), code=True)
            end = right - 26, place[block]
            canvas.arrow((40 + entry, y + 13), (240, y + 13), end, colour=colour)
        top += 108
    canvas.text(40, 252, "slot of token 5 of A:", anchor="start", colour=INK)
    canvas.text(40, 271, "block 5 / 4 = 1, place 5 % 4 = 1", anchor="start", code=True)
    canvas.text(40, 290, "table[1] × 4 + 1 = 5 × 4 + 1 = 21", anchor="start", code=True)
    return canvas


PICTURES = {"reserved": reserved_and_paged, "tables": tables_that_share}
