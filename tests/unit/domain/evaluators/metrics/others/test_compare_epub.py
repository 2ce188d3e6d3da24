"""Values of OSWorld's and WAA's functions for the same books, where they have one."""

from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.others import _epub
from backend.domain.evaluators.metrics.others.compare_epub import compare_epub, compare_epub_waa
from tests.factories.epub import chapter, epub

GOLD = {"a.html": chapter("A", "one", "two"), "b.html": chapter("B", "three")}


@pytest.fixture
def gold(tmp_path: Path) -> str:
    return epub(tmp_path / "gold.epub", GOLD)


class TestLikeness:
    def test_line_breaks_and_identifiers_do_not_count(self, gold: str, tmp_path: Path) -> None:
        mine = epub(tmp_path / "m.epub", GOLD | {"a.html": chapter("A", "one", "two", lines="\r\n")}, number="77")
        assert compare_epub(mine, gold).value == compare_epub_waa(mine, gold).value == 1.0

    def test_changed_chapter_lowers_the_score(self, gold: str, tmp_path: Path) -> None:
        mine = epub(tmp_path / "m.epub", GOLD | {"b.html": chapter("B", "other")})
        result = compare_epub(mine, gold)
        share = _epub.likeness(_epub.html_lines(chapter("B", "other")), _epub.html_lines(GOLD["b.html"]))
        assert 0 < share < 1
        assert result.value == pytest.approx((3 + share) / 4)
        assert compare_epub_waa(mine, gold).value == pytest.approx(share)
        assert result.reasons == (f"b.html: {share:.3f} of the lines match",)

    def test_changed_title_lowers_the_score(self, gold: str, tmp_path: Path) -> None:
        mine = epub(tmp_path / "m.epub", GOLD, title="Other")
        assert compare_epub(mine, gold).value == pytest.approx((2 + 3 / 4 + 4 / 5) / 4, abs=0.1)

    def test_book_with_parts_in_a_folder_is_read(self, tmp_path: Path) -> None:
        """The published metric raises: it writes the chapter into a folder that does not exist."""
        books = [epub(tmp_path / f"{number}.epub", GOLD, folder="OEBPS/") for number in "ab"]
        assert compare_epub(*books).value == 1.0


class TestMissingChapters:
    def test_missing_chapters_count(self, gold: str, tmp_path: Path) -> None:
        mine = epub(tmp_path / "m.epub", {"a.html": GOLD["a.html"]})
        assert compare_epub(mine, gold).value == pytest.approx(3 / 4)
        assert compare_epub_waa(mine, gold).value == 0.0

    def test_published_metric_ignores_missing_last_chapters(self, tmp_path: Path) -> None:
        gold = epub(tmp_path / "g.epub", {"x.html": GOLD["a.html"], "y.html": GOLD["b.html"]})
        mine = epub(tmp_path / "m.epub", {"x.html": GOLD["a.html"]})
        assert compare_epub(mine, gold).value == pytest.approx(3 / 4)
        assert compare_epub(mine, gold, strict_upstream=True).value == 1.0
        assert compare_epub_waa(mine, gold, strict_upstream=True).value == 1.0

    def test_additional_chapter_counts(self, gold: str, tmp_path: Path) -> None:
        mine = epub(tmp_path / "m.epub", GOLD | {"0.html": chapter("0")})
        assert compare_epub(mine, gold).value == pytest.approx(4 / 5)


class TestOddBooks:
    def test_a_damaged_book_in_waa_passes_as_published_only(self, gold: str, tmp_path: Path) -> None:
        (tmp_path / "m.epub").write_text("no zip")
        assert compare_epub_waa(str(tmp_path / "m.epub"), gold).value == 0.0
        assert compare_epub_waa(str(tmp_path / "m.epub"), gold, strict_upstream=True).value == 1.0

    def test_empty_chapter_is_compared(self, gold: str, tmp_path: Path) -> None:
        mine = epub(tmp_path / "m.epub", GOLD | {"b.html": ""})
        assert compare_epub(mine, gold).value == pytest.approx(3 / 4)

    def test_path_outside_the_book_is_rejected(self, gold: str, tmp_path: Path) -> None:
        mine = epub(tmp_path / "m.epub", {"../../evil.html": "x"})
        assert compare_epub(mine, gold).value == 0.0
        assert not (tmp_path.parent.parent / "evil.html").exists()

    def test_oversized_chapter_is_rejected(self, gold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        mine = epub(tmp_path / "m.epub", GOLD | {"a.html": "x" * 5000})
        monkeypatch.setattr(_epub, "MAX_MEMBER", 4000)
        assert "too large" in compare_epub(mine, gold).reasons[0]

    def test_too_many_line_pairs_score_0(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_epub, "MAX_PAIRS", 10)
        assert _epub.likeness(["a"] * 5, ["a"] * 4) == 0.0

    def test_expected_book_without_content_gives_no_verdict(self, gold: str, tmp_path: Path) -> None:
        (tmp_path / "g.epub").write_text("no zip")
        with pytest.raises(EvaluatorFailed):
            compare_epub(gold, str(tmp_path / "g.epub"))
