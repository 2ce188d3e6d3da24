"""Documents for the metrics of upstream's module `docs`."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from docx.enum.text import WD_COLOR_INDEX
from PIL import Image, ImageDraw

from tests.factories.docx import Block, Picture, Xml, large, p, png, r, save, save_odt, table, words
from tests.factories.metric_cases import Call, MetricCase

Maker = Callable[[Path], Call]
LINES = ("Annual report", "Sales rose by  12 %.", "", "Thank you")
RECORDS = ("06:01:10,T7,HUH,1", "06:03:00,T9,HUH,2", "06:09:30,T7,MKK,3")
REFERENCES = ("Body", "References", "Doe, J. (2019). On things. Press.", "", "Roe, R. (2020). More things. Press.")
PAGE = '<w:p><w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple></w:p>'
BREAK = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
OBJECT = "<w:p><w:r><w:t>x</w:t></w:r><w:r><w:object/></w:r></w:p>"
TABS = '<w:tabs><w:tab w:val="left" w:pos="{}"/></w:tabs>'
SENTENCE = "one two three\tfour five"
YELLOW = WD_COLOR_INDEX.YELLOW
LARGE = "<w:highlight w:val='yellow'/><w:i/><w:strike/><w:sz w:val='28'/><w:vertAlign w:val='subscript'/>"
FONT = "<w:rFonts w:ascii='Times New Roman'/>"


def pair(actual: tuple[Block, ...], wanted: tuple[Block, ...], **options: Any) -> Maker:
    """A call with two documents."""

    def make(folder: Path) -> Call:
        return Call((save(folder / "result.docx", *actual), save(folder / "gold.docx", *wanted)), options)

    return make


def one(*blocks: Block, rules: Mapping[str, Any] | None = None, footer: str | None = None) -> Maker:
    """A call with one document, and rules if the metric has any."""

    def make(folder: Path) -> Call:
        path = save(folder / "result.docx", *blocks, footer=footer)
        return Call((path,) if rules is None else (path, rules))

    return make


def twins(look: str = "", *, in_table: bool = False, **options: Any) -> Callable[[Path, int], Call]:
    """A call with two equal documents of a size."""

    def make(folder: Path, size: int) -> Call:
        paths = [large(folder / name, size, look=look, table=in_table) for name in ("result.docx", "gold.docx")]
        return Call(tuple(paths), options)

    return make


def single(look: str = "", *, rules: Mapping[str, Any] | None = None) -> Callable[[Path, int], Call]:
    """A call with one document of a size."""

    def make(folder: Path, size: int) -> Call:
        path = large(folder / "result.docx", size, look=look)
        return Call((path,) if rules is None else (path, rules))

    return make


def compared(
    actual: tuple[Block, ...],
    near: tuple[Block, ...],
    wanted: tuple[Block, ...] | None = None,
    *,
    look: str = "",
    in_table: bool = False,
    **how: Any,
) -> MetricCase:
    """A case of a metric that compares two documents."""
    wanted = actual if wanted is None else wanted
    return MetricCase(
        passing=pair(actual, wanted, **how),
        near_miss=pair(near, wanted, **how),
        sized=twins(look, in_table=in_table, **how),
        kinds=("docx",),
    )


def xcu(font: str) -> Callable[[Path], Call]:
    """LibreOffice's settings with a default font."""

    def make(folder: Path) -> Call:
        return Call((settings(folder, font), {"font_name": "Times New Roman"}))

    return make


def settings(folder: Path, font: str, more: str = "") -> str:
    """Writes LibreOffice's settings."""
    item = '<item oor:path="/org.openoffice.Office.Writer/DefaultFont"><prop oor:name="Standard" oor:op="fuse">'
    head = '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">'
    path = folder / "registrymodifications.xcu"
    path.write_text(f"{head}{more}{item}<value>{font}</value></prop></item></oor:items>")
    return str(path)


def large_xcu(folder: Path, size: int) -> Call:
    """Settings of a size."""
    item = '<item oor:path="/org.openoffice.Office.UI"><prop oor:name="x"><value>{}</value></prop></item>'
    more = "".join(item.format(word) for word in words(size // 90))
    return Call((settings(folder, "Times New Roman", more), {"font_name": "Times New Roman"}))


def odt(text: str, *, name: str = "result.odt", color: str = "transparent") -> Callable[[Path], str]:
    """Writes an .odt file whose spans of the style `T1` have a background."""
    style = (
        f'<style:style style:name="T1" style:family="text"><style:text-properties fo:background-color="{color}"/>'
        "</style:style>"
    )
    return lambda folder: save_odt(folder / name, text, automatic=style)


def highlighted(color: str) -> Maker:
    """A call with a word on a background."""
    body = '<text:p>Say <text:span text:style-name="T1">hello</text:span> to them</text:p>'
    return lambda folder: Call((odt(body, color=color)(folder), odt(body, name="gold.odt")(folder)))


def large_odt(folder: Path, size: int) -> Call:
    """Two equal .odt files of a size."""
    text_words = words(size // 5)
    body = "".join(
        f"<text:p>{' '.join(text_words[start : start + 10])}</text:p>" for start in range(0, len(text_words), 10)
    )
    return Call((odt(body)(folder), odt(body, name="gold.odt")(folder)))


def colored(vowel: str) -> tuple[Block, ...]:
    """A table with two words."""
    return ("Words", table((p(r("apple", color=vowel)), p(r("dog", color="0000FF")))))


def screenshot(folder: Path, text: str, size: tuple[int, int] = (640, 160)) -> str:
    """A picture of a terminal, not compressed."""
    image = Image.new("RGB", size, (48, 10, 36))
    draw = ImageDraw.Draw(image)
    for place, line in enumerate(text.split("\n")):
        draw.text((12, 12 + 28 * place), line, fill="white", font_size=18)
    image.save(folder / "ls.png", compress_level=0)
    return str(folder / "ls.png")


def shown(text: str) -> Maker:
    """A call with that picture."""
    rule = {"type": "text", "text": "Documents"}
    return lambda folder: Call((screenshot(folder, f"user@host:~$ ls\n{text}  Downloads  Music"), rule))


def large_screenshot(folder: Path, size: int) -> Call:
    """A picture of a size."""
    side = int((size / 3) ** 0.5)
    return Call((screenshot(folder, "Documents", (side, side)), {"type": "text", "text": "Documents"}))


def pictures_of(size: int) -> bytes:
    """A picture file of a size."""
    side = int(size**0.5)
    out = io.BytesIO()
    Image.effect_noise((side, side), 120).save(out, "PNG")
    return out.getvalue()


def large_pictures(folder: Path, size: int) -> Call:
    """Two documents with one picture."""
    data = pictures_of(size)
    return Call((save(folder / "result.docx", Picture(data)), save(folder / "gold.docx", Picture(data))))


def trains(*rows: str) -> Maker:
    """A call with the trains that are left, as they should be, and as they were."""

    def make(folder: Path) -> Call:
        gold = [save(folder / "gold.docx", *RECORDS[:2]), save(folder / "before.docx", *RECORDS)]
        return Call((save(folder / "result.docx", *rows), gold))

    return make


def large_trains(folder: Path, size: int) -> Call:
    """Many trains."""
    path = large(folder / "result.docx", size, join=",")
    return Call((path, [path, path]))


def large_timetables(folder: Path, size: int) -> Call:
    """Many trains, twice."""
    return Call((large(folder / "result.docx", size, join=","),) * 2)


def tabbed(position: int) -> tuple[Block, ...]:
    """A line with one tab stop, in twentieths of a point."""
    return (p(SENTENCE, properties=TABS.format(position)),)


OPTIONS: dict[str, Any] = {"word_number_split_by_tabstop": 3, "index": 0}
REFERENCE_CASE = compared(REFERENCES, REFERENCES[:-1], reference_base_result=0.6, content_only=True)
REFERENCE_CASE = MetricCase(passing=REFERENCE_CASE.passing, near_miss=REFERENCE_CASE.near_miss, kinds=("docx",))

CASES: dict[str, MetricCase] = {
    "compare_docx_files": compared(LINES, (*LINES[:3], "Thank  you!")),
    "compare_docx_files_and_ignore_new_lines": compared(
        ("a", "", "b c"), ("a", "b  d"), ("a", "b c"), ignore_blanks=False
    ),
    "compare_docx_lines": compared(("a", "b", "b "), ("b", "a"), ("b", "b", "a")),
    "compare_init_lines": compared(("a", "b", "c"), ("a", "c", "b"), ("a", "b")),
    "compare_docx_tables": compared(
        ("x", table(("1", "2"), ("3", "4"))), ("x", table(("1", "2"), ("3", "5"))), in_table=True
    ),
    "compare_docx_images": MetricCase(
        passing=pair(("x", Picture(png())), ("x", Picture(png(mode="RGBA")))),
        near_miss=pair(("x", Picture(png())), ("x", Picture(png(size=(6, 8))))),
        sized=large_pictures,
        kinds=("docx",),
    ),
    "compare_contains_image": compared(("x", Picture(png())), ("x", "y")),
    "compare_image_text": MetricCase(
        passing=shown("Desktop  Documents"),
        near_miss=shown("Desktop  Pictures"),
        sized=large_screenshot,
        kinds=("png",),
    ),
    "compare_line_spacing": compared((p("a", spacing=2.0), "b"), (p("a", spacing=1.5), "b")),
    "compare_insert_equation": MetricCase(
        passing=pair(("a", Xml(OBJECT)), ("a", Xml(OBJECT))),
        near_miss=pair(("a", "x"), ("a", Xml(OBJECT))),
        kinds=("docx",),
    ),
    "compare_font_names": MetricCase(
        passing=one(p(r("a", name="Times New Roman")), rules={"font_name": "Times New Roman"}),
        near_miss=one(p(r("a", name="Times New Roman"), r("b", name="Arial")), rules={"font_name": "Times New Roman"}),
        sized=single(FONT, rules={"font_name": "Times New Roman"}),
        kinds=("docx",),
    ),
    "compare_subscript_contains": compared(
        (p("H", r("2", subscript=True), "O"),), (p("H", r("2", superscript=True), "O"),), look=LARGE
    ),
    "compare_highlighted_text": compared(
        (p("a ", r("note", highlight_color=YELLOW)),), (p("a ", r("not", highlight_color=YELLOW), "e"),), look=LARGE
    ),
    "check_italic_font_size_14": compared(
        (p("a ", r("b", size=14, italic=True)),), (p("a ", r("b", size=12, italic=True)),), look=LARGE
    ),
    "evaluate_strike_through_last_paragraph": compared(
        ("a", p(r("b c", strike=True))), ("a", p(r("b ", strike=True), "c")), look=LARGE
    ),
    "evaluate_colored_words_in_tables": compared(
        colored("FF0000"), colored("0000FF"), look="<w:color w:val='0000FF'/>", in_table=True
    ),
    "check_tabstops": MetricCase(
        passing=pair(tabbed(5000), tabbed(5000), **OPTIONS),
        near_miss=pair(tabbed(5600), tabbed(5000), **OPTIONS),
        sized=twins(),
        kinds=("docx",),
    ),
    "compare_references": REFERENCE_CASE,
    "compare_references@waa": REFERENCE_CASE,
    "check_no_duplicates": MetricCase(
        passing=pair(RECORDS[:2], RECORDS), near_miss=pair(RECORDS, RECORDS), sized=large_timetables, kinds=("docx",)
    ),
    "compare_unique_train_records": MetricCase(
        passing=trains(*RECORDS[:2]), near_miss=trains(*RECORDS), sized=large_trains, kinds=("docx",)
    ),
    "get_unique_train_ids": MetricCase(passing=one(*RECORDS), near_miss=one("06:01:10,T7,HUH"), sized=single()),
    "contains_page_break": MetricCase(
        passing=one("a", Xml(BREAK), "b", Xml(BREAK), rules={"page_break_count": 2}),
        near_miss=one("a", Xml(BREAK), "b", rules={"page_break_count": 2}),
        sized=single(rules={}),
        kinds=("docx",),
    ),
    "has_page_numbers_in_footers": MetricCase(
        passing=one("a", footer=PAGE),
        near_miss=one("a", footer="<w:p><w:r><w:t>2023</w:t></w:r></w:p>"),
        sized=single(),
        kinds=("docx",),
    ),
    "is_first_line_centered": MetricCase(
        passing=one(p("a", align="center")), near_miss=one(p("a", align="right")), sized=single(), kinds=("docx",)
    ),
    "evaluate_conversion": MetricCase(passing=one("a b"), near_miss=one("a", p("b ", r("C D"))), sized=single()),
    "evaluate_spacing": MetricCase(
        passing=one(p("a", spacing=1.0), p("b", spacing=2.0), p("c", spacing=1.5)),
        near_miss=one(p("a", spacing=1.0), p("b", spacing=2.0), p("c", spacing=2.0)),
        sized=single(),
    ),
    "evaluate_alignment": MetricCase(
        passing=one("one two three\tfour five."), near_miss=one("one two three four five."), sized=single()
    ),
    "check_highlighted_words": MetricCase(
        passing=highlighted("#ff0000"), near_miss=highlighted("#ffff00"), sized=large_odt, kinds=("odt",)
    ),
    "find_default_font": MetricCase(passing=xcu("Times New Roman"), near_miss=xcu("Times"), sized=large_xcu),
}
