"""The cases that were collected from public bug reports, with their right values, as far as they are documents."""

from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.registry import PluginKind

registry.load()

CASES = Path(__file__).resolve().parents[6] / "shared" / "cases" / "evaluators"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="needs ../shared/cases: the collected cases")


def value(name: str, actual: str, expected: Any, **options: Any) -> float:
    """The metric's value; an expectation that is a text names a file of the cases."""
    metric = registry.lookup(PluginKind.METRIC, name, "osworld")
    other = str(CASES / expected) if isinstance(expected, str) else expected
    return float(metric(str(CASES / actual), other, **options).value)


WORD = {
    "docx_ins_right": 1.0,
    "docx_ins_wrong": 0.0,
    "docx_sdt_inline_right": 1.0,
    "docx_sdt_inline_wrong": 0.0,
    "docx_sdt_block_right": 1.0,
    "docx_sdt_block_wrong": 0.0,
    "docx_smarttag_right": 1.0,
    "docx_fldsimple_right": 1.0,
    "docx_link_ins": 1.0,
    "docx_paradel": 1.0,
    "docx_nullrel": 1.0,
    "docx_nullrel2": 1.0,
    "docx_fragrel": 1.0,
    "docx_strict": 1.0,
    "docx_macro": 1.0,
}
RULE = {"type": "sheet_data", "sheet_idx0": 0, "sheet_idx1": "EI0"}
SHOWN = {"paragraphs": ["Title", "Hello world"], "without": [".*RUBBISH.*"]}


class TestDocuments:
    @pytest.mark.parametrize(("name", "right"), WORD.items())
    def test_word_documents_are_compared_as_word_shows_them(self, name: str, right: float) -> None:
        assert value("compare_docx_files", f"{name}.docx", "docx_gold.docx") == right
        assert value("compare_docx_files", "docx_gold.docx", f"{name}.docx") == right
        assert value("compare_docx_lines", f"{name}.docx", "docx_gold.docx") == right
        assert value("document_goals", f"{name}.docx", SHOWN) == right

    @pytest.mark.parametrize("name", ["odt_annotation_comment", "odt_bibliography_ref", "odt_variable_field"])
    def test_comments_references_and_fields_of_odt_are_ignored(self, name: str) -> None:
        assert value("compare_docx_files", f"{name}.odt", "odt_same.odt") == 1.0

    @pytest.mark.parametrize("name", ["d_badsz", "d_stbadtype"])
    def test_invalid_xml_in_documents(self, name: str) -> None:
        assert value("document_goals", f"{name}.docx", {"bold": ["Hello world"], "styles": {"Title": "Normal"}}) == 0.0

    def test_a_cell_over_millions_of_columns(self) -> None:
        assert value("compare_docx_tables", "docx_gridspan.docx", "docx_gridspan_gold.docx") == 0.0
        assert value("compare_docx_tables", "docx_gridspan_gold.docx", "docx_gridspan_gold.docx") == 1.0

    @pytest.mark.parametrize("name", ["docx_bold_strong", "docx_bold_parastyle", "docx_bold_second"])
    def test_effective_bold_is_recognised(self, name: str) -> None:
        assert value("document_goals", f"{name}.docx", {"bold": ["Hello world"]}) == 1.0

    @pytest.mark.parametrize("name", ["pp_strict", "pp_NULL", "pp_macro", "pp_ppsx"])
    def test_repaired_presentations_equal_the_expected_one(self, name: str) -> None:
        assert value("compare_pptx_files", f"{name}.pptx", "pp_gold.pptx") == 1.0
        assert value("compare_pptx_files", "pp_gold.pptx", f"{name}.pptx") == 1.0

    def test_runs_that_only_proofing_divides(self) -> None:
        for name in ("pq_err", "pq_dirty+lang", "pp_split"):
            assert value("compare_pptx_files", f"{name}.pptx", "pp_gold.pptx") == 1.0


class TestTables:
    def test_iso_date_equals_its_serial_date(self) -> None:
        assert value("compare_table", "x_isodate2.xlsx", "x_serialdate.xlsx", rules=[RULE]) == 1.0

    def test_two_halves_of_a_character(self) -> None:
        assert value("sheet_goals", "x_surr.xlsx", {"cells": {"#0!A1": {"value": "hi\U0001f600"}}}) == 1.0

    def test_invalid_numbers_in_workbooks_do_not_raise(self) -> None:
        columns = {"type": "col_props", "sheet_idx0": 0, "sheet_idx1": "EI0", "props": ["width"]}
        style = {"type": "style", "sheet_idx0": 0, "sheet_idx1": "EI0", "props": ["number_format"]}
        assert value("compare_table", "cols.xlsx", "x_gold.xlsx", rules=[columns]) == 0.0
        for rule in (style, RULE):
            assert value("compare_table", "style.xlsx", "style.xlsx", rules=[rule]) == 1.0


class TestPictures:
    def test_pictures_of_16_bits_are_scaled(self) -> None:
        for name in ("same_picture", "check_structure_sim"):
            assert value(name, "g16_a.png", "g16_b.png") == 0.0
            assert value(name, "g8_a.png", "g16_a.png") == 1.0
        assert value("compare_images", "g16_a.png", "g16_b.png") < 0.9
        assert value("compare_images", "g8_a.png", "g16_a.png") == pytest.approx(1.0, abs=0.001)
        assert value("picture_goals", "g16_a.png", {"pixels": [[0, 0, [78, 78, 78]]]}) == 1.0
        assert value("picture_goals", "g16_a.png", {"pixels": [[0, 0, [255, 255, 255]]]}) == 0.0

    def test_exif_orientation_is_applied(self) -> None:
        for kind in ("jpg", "png"):
            for right in (1.0, 0.0):
                name = f"im_exif6_{'right' if right else 'wrong'}.{kind}"
                assert value("same_picture", name, f"im_gold.{kind}") == right
                assert value("check_structure_sim", name, f"im_gold.{kind}") == right
                assert (value("compare_images", name, f"im_gold.{kind}") > 0.95) is bool(right)

    def test_a_camera_with_two_lenses(self) -> None:
        assert value("picture_goals", "im_mpo.jpg", {"format": "JPEG"}) == 1.0
