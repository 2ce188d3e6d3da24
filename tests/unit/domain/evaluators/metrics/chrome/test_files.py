"""Comparisons of PDFs, archives and HTML files. Values of upstream's functions on the same files are literal here."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.chrome._pictures import hash_distance
from backend.domain.formats import archives
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind
from tests.factories.metric_cases.chrome import taped, write_html, zipped
from tests.factories.pdf import drawing, long_text, pdf_bytes, write_pdf

registry.load()


def judge(name: str, *args: Any, dialect: str = "osworld", **options: Any) -> MetricValue:
    result = registry.lookup(PluginKind.METRIC, name, dialect)(*args, **options)
    assert isinstance(result, MetricValue)
    return result


def pdfs(folder: Path, one: list[str], other: list[str], pictures: tuple[Any, Any] = ((), ())) -> tuple[str, str]:
    return (
        write_pdf(folder / "one.pdf", one, pictures[0]),
        write_pdf(folder / "other.pdf", other, pictures[1]),
    )


class TestComparePdfs:
    @pytest.mark.parametrize(
        ("one", "other", "value"),
        [
            (["One", "Two words here"], ["One", "Two world here"], 0.9444444444444444),
            ([""], ["text"], 0.0),
            (long_text(3000)[:1], long_text(3000, 5)[:1], 0.8640907862739798),
        ],
    )
    def test_text_similarity_is_upstreams(self, tmp_path: Path, one: list[str], other: list[str], value: float) -> None:
        assert judge("compare_pdfs", *pdfs(tmp_path, one, other)).value == pytest.approx(value, abs=1e-6)

    def test_score_of_several_files_is_their_mean(self, tmp_path: Path) -> None:
        right = write_pdf(tmp_path / "a.pdf", ["One"])
        result = judge("compare_pdfs", [right, None], [right, right])
        assert result.value == 0.5
        assert "file 2: the file does not exist" in result.reasons

    def test_scans_are_compared_by_their_look(self, tmp_path: Path) -> None:
        pair = pdfs(tmp_path, [], [], ([drawing(1)], [drawing(5)]))
        assert judge("compare_pdfs", *pair).value == 0.0
        assert judge("compare_pdfs", *pair, strict_upstream=True).value == 1.0
        assert judge("compare_pdfs", pair[0], pair[0]).value == 1.0

    def test_long_texts_are_compared_in_bounded_time(self, tmp_path: Path) -> None:
        pages = long_text(120_000)
        pair = pdfs(tmp_path, pages, [page[::-1] for page in pages])
        assert judge("compare_pdfs", *pair).value < 0.1
        pair = pdfs(tmp_path, pages, [*pages[:-1], "End"])
        assert 0.9 < judge("compare_pdfs", *pair).value < 1.0

    def test_pdfs_of_libreoffice_differ_by_their_text(self, tmp_path: Path) -> None:
        if shutil.which("soffice") is None:
            pytest.skip("needs LibreOffice: make setup APPS=full")
        for name, number in (("a", "12.5"), ("b", "12.6")):
            text = f"<h1>Report</h1><p>Some paragraph with {number} and 13</p><table><tr><td>A<td>B</table>"
            write_html(tmp_path / f"{name}.html", text)
        profile = f"-env:UserInstallation=file://{tmp_path}/office"
        files = [str(tmp_path / "a.html"), str(tmp_path / "b.html")]
        command = ["soffice", "--headless", profile, "--convert-to", "pdf", "--outdir", str(tmp_path), *files]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        result = judge("compare_pdfs", str(tmp_path / "a.pdf"), str(tmp_path / "b.pdf"))
        assert 0.9 < result.value < 1.0
        assert judge("check_pdf_pages", str(tmp_path / "a.pdf"), {"relation": "ge", "ref_value": 1}).value == 1.0


class TestComparePdfImages:
    @pytest.mark.parametrize(
        ("one", "other", "value"),
        [
            ([drawing(1), drawing(2)], [drawing(1), drawing(2)], 1.0),
            ([drawing(1), drawing(3)], [drawing(1), drawing(2)], 0.5),
            ([drawing(1)], [drawing(1), drawing(2)], 0.0),
        ],
    )
    def test_picture_comparison_is_upstreams(
        self, tmp_path: Path, one: list[Any], other: list[Any], value: float
    ) -> None:
        assert judge("compare_pdf_images", *pdfs(tmp_path, ["x"], ["x"], (one, other))).value == value

    def test_pictures_that_differ_in_colour_score_0(self, tmp_path: Path) -> None:
        pair = pdfs(tmp_path, ["x"], ["x"], ([drawing(1, colour="darkgreen")], [drawing(1)]))
        assert judge("compare_pdf_images", *pair).value == 0.0
        assert judge("compare_pdf_images", *pair, strict_upstream=True).value == 1.0

    def test_pages_are_compared_without_pictures(self, tmp_path: Path) -> None:
        pair = pdfs(tmp_path, ["One word"], ["\n\n\n\nQuite another text\n of some lines\n" * 9])
        assert judge("compare_pdf_images", *pair).value == 0.0
        assert judge("compare_pdf_images", *pair, strict_upstream=True).value == 1.0

    def test_perceptual_hashes_equal_imagehash(self) -> None:
        from imagehash import phash

        for one, other in ((drawing(1), drawing(2)), (drawing(3), drawing(4)), (drawing(1), drawing(1))):
            assert hash_distance(one, other) == phash(one) - phash(other)


class TestCheckPdfPages:
    @pytest.mark.parametrize(("relation", "value"), [("eq", 0), ("lt", 1), ("le", 1), ("gt", 0), ("ge", 0), ("ne", 1)])
    def test_page_count_is_compared_by_every_relation(self, tmp_path: Path, relation: str, value: int) -> None:
        path = write_pdf(tmp_path / "a.pdf", ["1", "2"])
        assert judge("check_pdf_pages", path, {"relation": relation, "ref_value": 3}).value == value

    @pytest.mark.parametrize("rule", [{}, {"relation": "add", "ref_value": 1}, {"relation": "eq", "ref_value": "1"}])
    def test_invalid_rules_give_no_verdict(self, tmp_path: Path, rule: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            judge("check_pdf_pages", write_pdf(tmp_path / "a.pdf"), rule)


class TestCompareHtmls:
    @pytest.mark.parametrize(
        ("one", "other", "ours", "published"),
        [
            ("<p>a</p>", "<p>a</p>", 1, 1),
            ("<p>a</p>", "<p>b</p>", 0, 0),
            ("", "<p>b</p>", 0, 1),
            ("<p>a</p>", "<p>a</p><p>b</p>", 0, 1),
            ('<p class="a b">x</p>', '<p class="a  b">x</p>', 1, 1),
            ('<p title="a">x</p>', "<p>x</p>", 0, 0),
            ("<p>a<!--x--></p>", "<p>a<!--y--></p>", 0, 0),
        ],
    )
    def test_structure_text_and_attributes_are_compared(
        self, tmp_path: Path, one: str, other: str, ours: int, published: int
    ) -> None:
        pair = write_html(tmp_path / "a.html", one), write_html(tmp_path / "b.html", other)
        assert judge("compare_htmls", *pair).value == ours
        assert judge("compare_htmls", *pair, strict_upstream=True).value == published

    def test_number_formats_are_ignored_with_the_option(self, tmp_path: Path) -> None:
        pair = write_html(tmp_path / "a.html", '<td sdnum="1">x'), write_html(tmp_path / "b.html", "<td>x")
        assert judge("compare_htmls", *pair).value == 0.0
        assert judge("compare_htmls", *pair, ignore_sdnum=True).value == 1.0


class TestCompareArchive:
    def test_tar_and_zip_are_compared(self, tmp_path: Path) -> None:
        files = {"a.txt": b"one\n", "b.txt": b"two\n"}
        gold = zipped(tmp_path / "gold.zip", files)
        assert judge("compare_archive", taped(tmp_path / "a.tar.gz", files), gold).value == 1.0
        half = zipped(tmp_path / "half.zip", {**files, "b.txt": b"three\n"})
        assert judge("compare_archive", half, gold).value == 0.5
        other = zipped(tmp_path / "other.zip", {"a.txt": b"one\n"})
        assert judge("compare_archive", other, gold).value == 0.0

    def test_files_are_compared_by_the_metric_of_their_type(self, tmp_path: Path) -> None:
        gold = taped(tmp_path / "gold.tar.gz", {"1.pdf": pdf_bytes(["Two words here"])})
        result = taped(tmp_path / "a.tar.gz", {"1.pdf": pdf_bytes(["Two world here"])})
        value = judge("compare_archive", result, gold, file_type="pdf").value
        assert 0.9 < value < 1.0

    @pytest.mark.parametrize("name", ["../../escaped.txt", "/escaped.txt"])
    def test_paths_outside_the_folder_are_rejected(self, tmp_path: Path, name: str) -> None:
        gold = taped(tmp_path / "gold.tar.gz", {"a.txt": b"one"})
        for made in (taped, zipped):
            path = made(tmp_path / f"bad.{'zip' if made is zipped else 'tar.gz'}", {name: b"x"})
            result = judge("compare_archive", path, gold)
            assert result.value == 0.0
            assert "leads out" in result.reasons[0]

    def test_archive_that_unpacks_to_too_much_is_rejected(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(archives, "MAX_UNPACKED", 2**20)
        gold = taped(tmp_path / "gold.tar.gz", {"a.txt": b"one"})
        bomb = taped(tmp_path / "bomb.tar.gz", {f"{n}.txt": bytes(2**19) for n in range(3)})
        assert "unpacks to more" in judge("compare_archive", bomb, gold).reasons[0]

    def test_archive_with_too_many_files_is_rejected(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Else nobody would see the one that should not be there."""
        monkeypatch.setattr(archives, "MAX_FILES", 2)
        gold = zipped(tmp_path / "gold.zip", {"a.txt": b"one", "b.txt": b"two"})
        more = zipped(tmp_path / "more.zip", {"a.txt": b"one", "b.txt": b"two", "c.txt": b"three"})
        assert [judge("compare_archive", path, gold).value for path in (gold, more)] == [1, 0]

    def test_invalid_tasks_give_no_verdict(self, tmp_path: Path) -> None:
        gold = zipped(tmp_path / "gold.zip", {"a.txt": b"one"})
        for options in ({"file_type": "spam"}, {"file_path": "gone"}):
            with pytest.raises(EvaluatorFailed):
                judge("compare_archive", gold, gold, **options)
