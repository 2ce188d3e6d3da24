"""Stand-ins for tasks of Writer."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.factories.docx import Block, P, Picture, Xml, p, png, r, save, table
from tests.factories.pdf import write_pdf
from tests.integration.osworld.stand_in import Maker, StandIn

STORY = ("The first paragraph of it.", "A second one follows here.", "And this is the last.")
PAGE = '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>1</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'  # noqa: E501
BREAK = Xml('<w:p><w:r><w:br w:type="page"/></w:r></w:p>')
PAGES: tuple[Block, ...] = (BREAK, "x") * 4
TRAINS = ("06:00:01, T1, S1, 1", "06:00:09, T2, S1, 2", "06:03:00, T1, S2, 1", "06:04:30, T3, S1, 1")
SOUNDS = (("a", "cat", "apple"), ("e", "hen", "egg"))
EMPTY = table(*[("",) * 7] * 5)


def document(*blocks: Block, **more: Any) -> Maker:
    """A document of these blocks."""
    return lambda path: save(path, *blocks, **more)


def spaced(*lines: float) -> Maker:
    """The story with these line spacings."""
    return document(*[p(text, spacing=space) for text, space in zip(STORY, lines, strict=True)])


def listed(colored: bool) -> Maker:  # noqa: FBT001 - before and after
    """Words in a table, red or blue by their first letter or in no colour."""

    def cell(word: str) -> P:
        return p(r(word, color=("FF0000" if word[0] in "aeiou" else "0000FF") if colored else None))

    return document("Words", table((cell("apple"), cell("big")), (cell("on"), cell("who"))))


def last(*, strike: bool) -> Maker:
    """The story, its last paragraph struck or not."""
    return document(*STORY[:2], p(r(STORY[2], strike=strike)))


def small(size: float) -> Maker:
    """A sentence with an italic word."""
    return document(p(r("This is ", size=12), r("important", size=size, italic=True), r(" for all.", size=12)))


def _pdf(path: Path) -> None:
    write_pdf(path, ["\n".join(STORY)])


fonts = partial(r, "A zoo in Dublin.")
STAND_INS: Mapping[str, StandIn] = {
    f"libreoffice_writer/{key}": own
    for key, own in {
        "0810415c": StandIn(spaced(1, 1, 1), spaced(2, 2, 1)),
        "b21acd93": StandIn(spaced(1, 1, 1), spaced(1, 2, 1.5)),
        "0b17a146": StandIn(document(p("Water is H2O.")), document(p("Water is H", r("2", subscript=True), "O."))),
        "0e47de2a": StandIn(document(*STORY), document(*STORY, footer=PAGE)),
        "0e763496": StandIn(document(p(fonts(name="DejaVu Sans"))), document(p(fonts(name="Times New Roman")))),
        "3ef2b351": StandIn(document(*STORY), document(p(STORY[0], align="center"), *STORY[1:])),
        "4bcb1253": StandIn(document(*STORY), _pdf),
        "66399b0d": StandIn(document(*STORY), document(*STORY[:1], EMPTY, *STORY[1:])),
        "72b810ef": StandIn(last(strike=False), last(strike=True)),
        "8472fece": StandIn(listed(colored=False), listed(colored=True)),
        "88fe4b2d": StandIn(
            document("One is here. Two is there. Three ends.", STORY[1]),
            document("One is here.", "", "Two is there.", "", "Three ends.", "", STORY[1]),
        ),
        "936321ce": StandIn(
            document("Sounds", *[", ".join(row) for row in SOUNDS]), document("Sounds", table(*SOUNDS))
        ),
        "d53ff5ee": StandIn(document("This is LOUD.", "So is THAT."), document("this is loud.", "so is that.")),
        "e528b65e": StandIn(document("a city by the sea"), document("A City By The Sea")),
        "e246f6d8": StandIn(small(12), small(14)),
        "ecc2413d": StandIn(document("1", *PAGES), document("1", BREAK, *PAGES)),
        "6f81754e": StandIn(
            document(*TRAINS),
            document(*TRAINS[:2], TRAINS[3]),
            others={"HK_train_record.docx": document(*TRAINS)},
        ),
        "6ada715d": StandIn(
            document(*STORY),
            document(*STORY[:1], Picture(png()), *STORY[1:]),
            others={"1.png": lambda path: path.write_bytes(png())},
        ),
    }.items()
}
