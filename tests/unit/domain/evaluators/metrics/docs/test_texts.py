"""Metrics that compare what documents say: options, order, repetition, references, records."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.docs import _texts
from backend.domain.evaluators.metrics.docs._texts import CompareDocxOptions, compare_texts
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind
from tests.factories.docx import Block, save, save_odt, table
from tests.factories.office import soffice

registry.load()


def metric(name: str, dialect: str = "osworld") -> Any:
    return registry.lookup(PluginKind.METRIC, name, dialect)


@pytest.fixture
def judge(tmp_path: Path) -> Any:
    """Calls a metric with two documents."""

    def call(
        name: str, found: tuple[Block, ...], wanted: tuple[Block, ...], dialect: str = "osworld", **options: Any
    ) -> MetricValue:
        paths = save(tmp_path / "result.docx", *found), save(tmp_path / "gold.docx", *wanted)
        value = metric(name, dialect)(*paths, **options)
        assert isinstance(value, MetricValue)
        return value

    return call


class TestCompareTexts:
    """Values are those of upstream's function on the same paragraphs."""

    @pytest.mark.parametrize(
        ("options", "value"),
        [
            ({}, 0.0),
            ({"content_only": True}, 30 / 38),
            ({"content_only": True, "ignore_case": True}, 32 / 38),
            ({"fuzzy_match": True}, 30 / 38),
            ({"fuzzy_match": True, "ignore_blanks": False}, 0.0),
            ({"fuzzy_match": True, "ignore_blanks": False, "delete_empty_lines": True}, 0.7625),
            ({"ignore_blanks": False, "delete_empty_lines": True}, 0.0),
        ],
    )
    def test_options_change_the_similarity(self, options: dict[str, bool], value: float) -> None:
        result, wanted = ["Alpha beta", "", "gamma"], ["alpha beta", "delta gamma"]
        assert compare_texts(result, wanted, CompareDocxOptions(**options)).value == pytest.approx(value, abs=1e-6)

    def test_repeated_blanks_count_only_without_ignore_blanks(self) -> None:
        assert compare_texts(["a  b", "c"], ["a b c"], CompareDocxOptions()).value == 1.0
        assert compare_texts(["a  b", "c"], ["a b", "c"], CompareDocxOptions(ignore_blanks=False)).value == 0.0
        assert (
            compare_texts(
                ["a", " ", "b"], ["a", "b"], CompareDocxOptions(ignore_blanks=False, delete_empty_lines=True)
            ).value
            == 1
        )

    def test_order_and_case(self) -> None:
        """As published, lines are sorted before their case is dropped."""
        result, wanted = ["b", "A"], ["a", "B"]
        assert compare_texts(result, wanted, CompareDocxOptions(ignore_order=True, ignore_case=True)).value == 1.0
        assert (
            compare_texts(["a", "B"], ["A", "b"], CompareDocxOptions(ignore_order=True, ignore_case=True)).value == 1.0
        )
        strict = CompareDocxOptions(ignore_order=True, ignore_case=True, strict_upstream=True)
        assert compare_texts(["a", "B"], ["A", "b"], strict).value == 0.0

    def test_similarity_is_twice_the_common_subsequence_by_length(self) -> None:
        """Twice the longest common subsequence by both lengths: 2 * 3 / 8."""
        assert compare_texts(["abcd"], ["abce"], CompareDocxOptions(content_only=True)).value == pytest.approx(0.75)
        fuzzy = CompareDocxOptions(fuzzy_match=True, ignore_blanks=False)
        assert compare_texts(["abcd", "x"], ["abce", "x"], fuzzy).value == pytest.approx(0.875)
        assert compare_texts([], [], fuzzy).value == 1.0

    def test_long_texts_are_compared_by_words(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_texts, "MAX_WORK", 10)
        assert compare_texts(["a b c d"], ["a b c e"], CompareDocxOptions(content_only=True)).value == pytest.approx(
            0.75
        )

    def test_reasons_name_the_first_difference(self) -> None:
        assert compare_texts(["a", "b"], ["a", "c"], CompareDocxOptions(ignore_blanks=False)).reasons == (
            "paragraph 2 is 'b', expected 'c'",
        )
        assert compare_texts(["a", "b"], ["a", "c"], CompareDocxOptions()).reasons == (
            "from character 3: 'a b', expected 'a c'",
        )

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.text("aB \t", max_size=5), max_size=5), st.randoms(), st.booleans(), st.booleans())
    def test_laws_of_equal_and_shuffled_texts(self, lines: list[str], draw: Any, blanks: bool, fuzzy: bool) -> None:  # noqa: FBT001 - drawn.
        shuffled = draw.sample(lines, len(lines))
        how = {"ignore_blanks": blanks, "fuzzy_match": fuzzy}
        assert compare_texts(lines, lines, CompareDocxOptions(**how)).value == 1.0
        assert compare_texts(lines, shuffled, CompareDocxOptions(**how, ignore_order=True)).value == 1.0
        assert 0.0 <= compare_texts(lines, [*shuffled, "x"], CompareDocxOptions(**how)).value <= 1.0


class TestCompareDocxFiles:
    def test_tables_are_ignored(self, judge: Any) -> None:
        assert judge("compare_docx_files", ("a", table(("1",))), ("a", table(("2",)))).value == 1.0

    def test_another_file_type_scores_0_or_gives_no_verdict(self, tmp_path: Path) -> None:
        gold, other = save(tmp_path / "gold.docx", "a"), save_odt(tmp_path / "result.odt", "<text:p>a</text:p>")
        assert metric("compare_docx_files")(other, gold).reasons == ("the file is not .docx",)
        with pytest.raises(EvaluatorFailed):
            metric("compare_docx_files")(gold, save(tmp_path / "gold.rtf", "a"))

    def test_headings_spans_and_spaces_of_odt_are_read(self, tmp_path: Path) -> None:
        one = save_odt(tmp_path / "a.odt", "<text:h>One</text:h><text:p>b<text:s/>c</text:p>")
        two = save_odt(tmp_path / "b.odt", "<text:h>Two</text:h><text:p>b c</text:p>")
        assert metric("compare_docx_files")(one, two).value == 0.0
        assert metric("compare_docx_files")(one, two, strict_upstream=True).value == 0.0
        same = save_odt(tmp_path / "c.odt", "<text:h>One</text:h><text:p>b c</text:p>")
        assert metric("compare_docx_files")(one, same).value == 1.0
        assert metric("compare_docx_files")(one, same, content_only=True).value == 1.0

    def test_libreoffices_copy_equals_the_original(self, tmp_path: Path) -> None:
        path = Path(save(tmp_path / "a.docx", "Annual report", "", "Sales rose\tby 12 %."))
        assert metric("compare_docx_files")(str(soffice(path, "docx")), str(path), ignore_blanks=False).value == 1.0
        one = soffice(path, "odt")
        assert metric("compare_docx_files")(str(one), str(one)).value == 1.0


class TestLines:
    def test_repeated_lines_count(self, judge: Any) -> None:
        result = judge("compare_docx_lines", ("a", "a", "b"), ("a", "b"))
        assert (result.value, result.reasons) == (0.0, ("the line 'a' is unexpected",))
        assert judge("compare_docx_lines", ("a", "a", "b"), ("a", "b"), strict_upstream=True).value == 1.0

    def test_document_must_begin_with_the_expected_lines(self, judge: Any, tmp_path: Path) -> None:
        assert judge("compare_init_lines", ("a", "b"), ("a", "")).value == 1.0
        assert judge("compare_init_lines", ("a",), ("a", "b")).value == 0.0
        assert judge("compare_init_lines", ("a",), ("a", "b"), strict_upstream=True).value == 1.0
        empty = save(tmp_path / "empty.docx")
        gold = save(tmp_path / "gold.docx", "a")
        assert metric("compare_init_lines")(empty, gold).value == 0.0
        assert metric("compare_init_lines")(empty, gold, strict_upstream=True).value == 1.0

    def test_new_lines_are_ignored(self, judge: Any) -> None:
        name = "compare_docx_files_and_ignore_new_lines"
        assert judge(name, ("a", "", "b"), ("a", "b"), ignore_blanks=False).value == 1.0
        assert judge(name, ("a", " ", "b"), ("a", "b"), ignore_blanks=False).value == 0.0
        assert judge(name, ("a", " ", "b"), ("a", "b")).value == 1.0


class TestTables:
    def test_reason_names_the_differing_cell(self, judge: Any) -> None:
        result = judge("compare_docx_tables", (table(("1 ", "2"), ("3", "x")),), (table(("1", "2"), ("3", "4")),))
        assert result.reasons == ("table 1, row 2, column 2: got 'x', expected '4'",)

    def test_reason_names_the_differing_size(self, judge: Any) -> None:
        assert judge("compare_docx_tables", (table(("1",)),), (table(("1", "2")),)).reasons == (
            "table 1 has 1 rows of 1 columns, expected 1 of 2",
        )
        assert judge("compare_docx_tables", (), (table(("1",)),)).reasons == ("the document has 0 tables, expected 1",)

    def test_many_reasons_are_cut(self, judge: Any) -> None:
        rows = [table(*[(f"{number}",) for number in range(start, start + 30)]) for start in (0, 100)]
        assert judge("compare_docx_tables", (rows[0],), (rows[1],)).reasons[-1] == "and 10 more"


REFERENCES = ("References", "Doe, J. (2019). On things.", "Roe, R. (2020). More things.")


class TestReferences:
    def test_the_score_above_the_base_counts(self, judge: Any) -> None:
        near = (*REFERENCES[:2], "Roe, R. (2020) More things")
        whole = judge("compare_references", REFERENCES, REFERENCES, reference_base_result=0.6, content_only=True)
        part = judge("compare_references", near, REFERENCES, reference_base_result=0.6, content_only=True)
        mean = (1 + 2 * 26 / (26 + 28)) / 2
        assert whole.value == 1.0
        assert part.value == pytest.approx((mean - 0.6) / 0.4)

    def test_the_suites_differ_near_the_base(self, judge: Any) -> None:
        result, wanted = ("References", "abcd"), ("References", "abce")
        assert judge("compare_references", result, wanted, reference_base_result=0.745).value == 0.0
        waa = judge("compare_references", result, wanted, dialect="waa", reference_base_result=0.745)
        assert waa.value == pytest.approx(0.005 / 0.255)

    def test_blanks_with_content_only(self, judge: Any) -> None:
        spaced = (*REFERENCES[:2], "Roe,  R. (2020).  More things.")
        assert judge("compare_references", spaced, REFERENCES, content_only=True).value == 1.0
        assert judge("compare_references", spaced, REFERENCES, content_only=True, strict_upstream=True).value < 1.0

    def test_missing_reference_heading_scores_0(self, judge: Any) -> None:
        assert judge("compare_references", ("a",), REFERENCES).value == 0.0
        with pytest.raises(EvaluatorFailed):
            judge("compare_references", ("a",), ("a",))
        assert judge("compare_references", ("a",), ("a",), strict_upstream=True).value == 1.0

    @pytest.mark.parametrize("base", [1, -0.1, True, "x"])
    def test_a_base_without_meaning(self, judge: Any, base: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            judge("compare_references", REFERENCES, REFERENCES, reference_base_result=base)


TRAINS = ("06:01,T7,HUH,1", "06:03,T9,HUH,2", "06:09,T7,MKK,3")


class TestTrains:
    def test_the_result_must_not_repeat(self, judge: Any) -> None:
        assert judge("check_no_duplicates", TRAINS[:2], TRAINS).value == 1.0
        assert judge("check_no_duplicates", TRAINS, TRAINS[:2]).reasons == ("train 'T7' occurs 2 times",)
        assert judge("check_no_duplicates", TRAINS, TRAINS[:2], strict_upstream=True).value == 1.0

    @pytest.mark.parametrize(
        ("found", "value"),
        [
            (TRAINS[:2], 1.0),
            (TRAINS[1:], 1.0),
            (TRAINS[:1], 0.0),
            (TRAINS, 0.0),
            ((*TRAINS[:1], "06:04,T9,HUH,2"), 0.0),
            ((*TRAINS[:2], "x"), 0.0),
        ],
    )
    def test_train_records_must_equal_the_expected_ones(
        self, tmp_path: Path, found: tuple[str, ...], value: float
    ) -> None:
        gold = [save(tmp_path / "gold.docx", *TRAINS[:2]), save(tmp_path / "before.docx", *TRAINS)]
        name = metric("compare_unique_train_records")
        assert name(save(tmp_path / "a.docx", *found), gold).value == value

    @pytest.mark.parametrize("expected", [[], ["x"], "x", [None, None]])
    def test_records_need_two_documents(self, tmp_path: Path, expected: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            metric("compare_unique_train_records")(save(tmp_path / "a.docx", *TRAINS), expected)

    def test_reason_lists_the_trains(self, tmp_path: Path) -> None:
        result = metric("get_unique_train_ids")(save(tmp_path / "a.docx", *TRAINS))
        assert (result.value, result.reasons) == (1.0, ("2 trains in 3 lines: 'T7', 'T9'",))
