"""With `strict_upstream` every published metric reads files as upstream does, not only some of them."""

import ast
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.domain.evaluators import metrics
from backend.domain.evaluators.metrics.docs.compare_docx_files_and_ignore_new_lines import (
    compare_docx_files_and_ignore_new_lines,
)
from backend.domain.evaluators.metrics.docs.compare_docx_tables import compare_docx_tables
from backend.domain.evaluators.metrics.general.fuzzy_place_math import fuzzy_place_math
from backend.domain.evaluators.metrics.gimp.check_structure_sim_resized import check_structure_sim_resized
from backend.domain.evaluators.metrics.gimp.compare_image_list import compare_image_list
from backend.domain.evaluators.metrics.slides.check_slide_orientation_Portrait import check_slide_orientation_Portrait
from backend.domain.evaluators.metrics.vlc.compare_images import compare_images
from tests.factories.docx import Xml, p, save, table
from tests.factories.images import scene
from tests.factories.pptx import deck
from tests.factories.xlsx import replaced

ROOMS = ("docs", "general", "gimp", "slides", "vlc")
READERS = {
    *("read_document", "judged", "compared", "with_same_text", "same_text", "compare_files"),
    *("pair", "expected_picture", "read_picture", "read_deck", "look_into"),
}
OTHERWISE = {
    "check_sharper.py": "decoded by the library that upstream uses",
    "compare_image_text.py": "text is recognised by another program anyway",
    "get_unique_train_ids.py": "upstream gives no score",
    "check_image_file_size.py": "upstream does not open the picture",
}
INSERTED = '<w:ins w:id="1" w:author="a"><w:r><w:t>{}</w:t></w:r></w:ins>'


def reads(path: Path) -> bool:
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return any(isinstance(one, ast.Name) and one.id in READERS for one in calls)


@pytest.mark.parametrize("room", ROOMS)
def test_metrics_that_read_files_have_the_option(room: str) -> None:
    files = (Path(metrics.__file__).parent / room).glob("[!_]*.py")
    without = [one.name for one in files if reads(one) and "strict_upstream" not in one.read_text()]
    assert sorted(set(without) - OTHERWISE.keys()) == []


class TestReading:
    def test_strict_upstream_reads_only_direct_runs(self, tmp_path: Path) -> None:
        mine = save(tmp_path / "a.docx", p("Rome", xml=INSERTED.format(" Oslo Bern")), table(("x",)))
        gold = save(tmp_path / "b.docx", p("Rome Oslo Bern"), table(("x",)))
        same = compare_docx_files_and_ignore_new_lines
        assert [same(mine, gold, strict_upstream=strict).value for strict in (False, True)] == [1, 0]
        rules = {"expected": ["Rome", "Oslo", "Bern"]}
        assert [fuzzy_place_math(mine, rules, strict_upstream=strict).value for strict in (False, True)] == [1, 0]

    def test_strict_upstream_ignores_tables_in_cells(self, tmp_path: Path) -> None:
        cell = "<w:tbl><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:tc><w:p/>{}<w:p/></w:tc></w:tr></w:tbl>"
        text = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
        files = [
            save(tmp_path / f"{word}.docx", Xml(cell.format(cell.format(text.format(word))))) for word in ("a", "b")
        ]
        assert [compare_docx_tables(*files, strict_upstream=strict).value for strict in (False, True)] == [0, 1]

    def test_strict_upstream_ignores_exif_orientation(self, tmp_path: Path) -> None:
        turned = Image.Exif()
        turned[0x0112] = 3
        picture = scene()
        picture.save(tmp_path / "gold.png")
        picture.transpose(Image.Transpose.ROTATE_180).save(tmp_path / "mine.png", exif=turned)
        files = str(tmp_path / "mine.png"), str(tmp_path / "gold.png")
        for metric in (check_structure_sim_resized, compare_images):
            shown, stored = (metric(*files, strict_upstream=strict).value for strict in (False, True))
            assert shown == pytest.approx(1)
            assert stored < 0.9

    def test_pictures_that_upstream_cannot_compare(self, tmp_path: Path) -> None:
        """Upstream raises, which is 0 there; here it would take the attempt out of the score."""
        path = str(tmp_path / "deep.png")
        Image.new("I;16", (20, 20)).save(path)
        assert [compare_image_list([path], [path], strict_upstream=strict).value for strict in (False, True)] == [1, 0]

    def test_decks_that_upstream_cannot_open(self, tmp_path: Path) -> None:
        def tall(show: Any) -> None:
            show.slide_width, show.slide_height = 5_000_000, 9_000_000

        path = Path(deck(tmp_path / "a.pptx", tall))
        kinds = {"[Content_Types].xml": lambda data: data.replace(b"ml.presentation.main+xml", b"ml.template.main+xml")}
        replaced(path, kinds)
        portrait = check_slide_orientation_Portrait
        assert [portrait(str(path), strict_upstream=strict).value for strict in (False, True)] == [1, 0]
