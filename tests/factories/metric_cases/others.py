"""Cases of the metrics of electronic books and of tags in music."""

import random
from pathlib import Path

from tests.factories.epub import chapter, epub
from tests.factories.id3 import mp3
from tests.factories.metric_cases import Call, MetricCase

META = {"title": {"method": "eq", "ref": "Missing You"}, "artist": {"method": "eq", "ref": "Cheng Xiang"}}
CHAPTERS = {"ch1.html": chapter("One", "First.", "Second."), "ch2.html": chapter("Two", "Third.")}


def books(folder: Path, *last: str) -> Call:
    mine = CHAPTERS | {"ch2.html": chapter("Two", *last, lines="\n")}
    return Call((epub(folder / "mine.epub", mine, number="7"), epub(folder / "gold.epub", CHAPTERS)))


def sized_books(folder: Path, size: int) -> Call:
    """Chapters of 20 kB, packed as well as text is; every hundredth paragraph differs."""
    words = random.Random(1)  # noqa: S311 - the same words in every run.
    texts = [[words.randbytes(60).hex() for _ in range(150)] for _ in range(max(1, size // 11_000))]
    gold = {f"ch{number}.html": chapter(str(number), *text) for number, text in enumerate(texts)}
    for text in texts:
        text[::100] = ["changed"] * len(text[::100])
    mine = {f"ch{number}.html": chapter(str(number), *text) for number, text in enumerate(texts)}
    return Call((epub(folder / "mine.epub", mine), epub(folder / "gold.epub", gold)))


def tagged(folder: Path, title: str, frames: int = 20) -> Call:
    return Call((mp3(folder / "song.mp3", frames, TIT2=title, TPE1="Cheng Xiang"), META))


def book_case() -> MetricCase:
    return MetricCase(
        passing=lambda folder: books(folder, "Third."),
        near_miss=lambda folder: books(folder, "Third!"),
        sized=sized_books,
        kinds=("epub",),
    )


CASES = {
    "compare_epub": book_case(),
    "compare_epub@waa": book_case(),
    "check_mp3_meta": MetricCase(
        passing=lambda folder: tagged(folder, "Missing You"),
        near_miss=lambda folder: tagged(folder, "Missing you"),
        sized=lambda folder, size: tagged(folder, "Missing You", size // 417),
        kinds=("mp3",),
    ),
}
