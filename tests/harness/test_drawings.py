"""Pictures are what is drawn, readable on white and on dark, with numbers that are computed."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from harness.drawing import canvas, pictures, trees
from harness.drawing.addresses import Request, banks, sectors, strided
from harness.drawing.boxes import Arrow, Box, boxes
from harness.drawing.budgets import Launch, budgets
from harness.drawing.canvas import Canvas
from harness.drawing.tiles import Fragment, Matrix, block_of, fragments, patches, product
from harness.drawing.timelines import (
    Arm,
    Barrier,
    Clash,
    Divergence,
    Row,
    Span,
    Timeline,
    divergences,
    timelines,
)
from harness.drawing.trees import Tree
from tests.harness.miniature_checkout import lesson

ROOT = Path(__file__).resolve().parents[2]
KEPT = sorted(ROOT.glob("curriculum/lesson_*/pictures/*.svg"))
LANES = frozenset(range(32))


def words(picture):
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg()))


def every_kind():
    """One picture of each kind."""
    fold = Tree("fold", trees.sequential(8), range(8))
    write, read = Span(0, 2, "write"), Span(2, 4, "read")
    race = Timeline("r", [Row("w", [write, read])], [Barrier(2)], [Clash(1, 2, (0, 0), "race")])
    cells = block_of(range(1), range(2))
    matrices = [Matrix(name, 3, 4, weak=cells, across="K", down="M") for name in "ABC"]
    two = [Box("a", 20, 20, 90, 40, "host"), Box("b", 300, 20, 90, 40, "device\nHBM")]
    return {
        "sectors": sectors("s", [strided("x[2 * i]", 2), Request("gather", [0, 4000, 96])]),
        "banks": banks("b", [strided("s[i]", 1), strided("column", 33)]),
        "product": product("p", *matrices, ["one block"]),
        "patches": patches("p", ["4 × 4"], 8, 8, (4, 4)),
        "fragments": fragments("f", [Fragment("C", 16, 8, lambda row, column: (row, column))]),
        "timelines": timelines("t", [race]),
        "divergences": divergences("d", [Divergence("if", [Arm("then", 2, LANES)])]),
        "trees": trees.trees("t", [fold]),
        "budgets": budgets("o", [Launch("256 threads", 256, 32)]),
        "boxes": boxes("b", two, [Arrow("a", "b", "copy", both=True)]),
    }


KINDS = every_kind()


def test_what_is_kept_is_what_is_drawn():
    changed = pictures.drifted(ROOT, pictures.every_picture())
    assert changed == [], "run `lesson drawings`"


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_picture_is_shown_by_its_lesson(path):
    readme = (path.parents[1] / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"!\[[^\]]+\]\(pictures/{path.name}\)", readme), "no reader would see it"


@pytest.mark.parametrize("readme", sorted(ROOT.glob("curriculum/lesson_*/README.md")))
def test_a_lesson_shows_no_picture_that_is_absent(readme):
    named = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme.read_text(encoding="utf-8"))
    assert [name for name in named if not (readme.parent / name).is_file()] == []


def every_svg():
    kept = [pytest.param(path.read_text(), id=path.stem) for path in KEPT]
    return kept + [pytest.param(picture.svg(), id=kind) for kind, picture in KINDS.items()]


@pytest.mark.parametrize("svg", every_svg())
def test_a_picture_fits_the_page_and_asks_for_nothing_else(svg):
    root = ElementTree.fromstring(svg)
    width, height = int(root.get("width")), int(root.get("height"))
    assert width <= 800 and height <= 1200
    assert not re.search(r"href|url\(|@import|<image|<script|<style", svg)
    assert root[0].tag.endswith("title") and root[0].text
    for shape in root:
        if shape.tag.endswith("text"):
            size, words = float(shape.get("font-size")), shape.text
            assert size >= 12, f"{words!r} is set in {size} pixels"
            x, wide = float(shape.get("x")), canvas.width_of(words, size)
            left = x - {"start": 0, "middle": wide / 2, "end": wide}[shape.get("text-anchor")]
            assert left >= -2 and left + wide <= width + 2, f"{words!r} runs off the page"
        elif shape.tag.endswith("rect"):
            x, y = float(shape.get("x")), float(shape.get("y"))
            assert x >= 0 and y >= 0
            assert x + float(shape.get("width")) <= width
            assert y + float(shape.get("height")) <= height
            assert width * height > 2 * float(shape.get("width")) * float(shape.get("height")), (
                "the page must show through"
            )


@pytest.mark.parametrize("svg", every_svg())
def test_every_colour_can_be_told_from_white_and_from_dark(svg):
    colours = set(re.findall(r"#[0-9a-f]{6}", svg)) - {canvas.ON_PAINT}
    assert colours
    for colour in colours:
        for page in ("#ffffff", "#0d1117"):
            assert contrast(colour, page) >= 3.5, f"{colour} on {page}"
        assert contrast(canvas.ON_PAINT, colour) >= 3.5, f"white words on {colour}"


def contrast(one, other):
    """As the Web Content Accessibility Guidelines define it: 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_the_same_calls_draw_the_same_bytes():
    again = every_kind()
    assert {kind: p.svg() for kind, p in KINDS.items()} == {k: p.svg() for k, p in again.items()}


def test_words_too_small_to_read_are_refused():
    with pytest.raises(AssertionError, match="cannot be read"):
        Canvas("t").text(0, 0, "small", size=11)


# --- The numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (strided("", 1), "4 sectors: 128 of 128 bytes used, 100 %"),
        (strided("", 1, first=1), "5 sectors: 128 of 160 bytes used, 80 %"),
        (strided("", 2), "8 sectors: 128 of 256 bytes used, 50 %"),
        (strided("", 64), "32 sectors: 128 of 1,024 bytes used, 12.5 %"),
        (strided("", 1, width=16), "16 sectors: 512 of 512 bytes used, 100 %"),
        (Request("", [64] * 32), "1 sector: 4 of 32 bytes used, 12.5 %"),
    ],
)
def test_sectors_are_counted(request_, said):
    assert said in words(sectors("t", [request_]))


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (strided("", 1), "1 pass: no conflict 32 of 32 banks"),
        (strided("", 2), "2 passes: a 2-way conflict 16 of 32 banks"),
        (strided("", 32), "32 passes: a 32-way conflict 1 of 32 banks"),
        (strided("", 33), "1 pass: no conflict 32 of 32 banks"),
        (Request("", [0] * 32), "1 pass: no conflict 1 of 32 banks"),
        (strided("", 1, width=16), "4 passes: no conflict 32 of 32 banks"),
    ],
)
def test_passes_of_the_banks_are_counted(request_, said):
    assert said in words(banks("t", [request_]))


def test_blocks_of_an_sm_are_worked_out():
    assert "6 blocks, 48 of 64 warps: 75 %" in words(budgets("t", [Launch("", 256, 33)]))


def test_lanes_at_work_are_counted():
    halves = [Arm("then", 3, frozenset(range(16))), Arm("else", 3, frozenset(range(16, 32)))]
    assert Divergence("", halves).efficiency == pytest.approx(5 / 8)
    assert Divergence("", [Arm("then", 3, LANES), Arm("else", 3, frozenset())]).efficiency == 1


@pytest.mark.parametrize("steps", [trees.interleaved, trees.sequential, trees.shuffled_down])
def test_a_tree_ends_in_the_sum(steps):
    assert Tree("", steps(16), range(16)).rows[-1][0] == sum(range(16))


def test_an_exchange_leaves_the_sum_everywhere():
    assert Tree("", trees.exchanged(8), range(8)).rows[-1] == [28] * 8


# --- The command ----------------------------------------------------------------------------------


def test_drawings_are_written_once_and_checked(tmp_path):
    (tmp_path / "curriculum").mkdir()
    (tmp_path / "curriculum/curriculum.toml").write_text("")
    assert lesson(tmp_path, "drawings", "--check").returncode == 1
    assert lesson(tmp_path, "drawings").returncode == 0
    assert lesson(tmp_path, "drawings", "--check").returncode == 0
    [first, *_] = sorted(tmp_path.glob("curriculum/lesson_*/pictures/*.svg"))
    first.write_text(first.read_text() + "<!-- by hand -->\n")
    checked = lesson(tmp_path, "drawings", "--check")
    assert checked.returncode == 1
    assert first.relative_to(tmp_path).as_posix() in checked.stdout
    (first.parent / "old.svg").write_text("<svg/>")
    written = lesson(tmp_path, "drawings").stdout
    assert f"written    {first.relative_to(tmp_path).as_posix()}" in written
    assert "removed    " in written and not (first.parent / "old.svg").exists()
