"""`compare_table` as a whole: laws, options, odd and hostile files, files of LibreOffice."""

import itertools
import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.metrics.table.compare_table import compare_table
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code
from tests.factories import xlsx
from tests.factories.metric_cases.table import CASES
from tests.factories.office import soffice_all

PAIR = {"sheet_idx0": 0, "sheet_idx1": "EI0"}
ALL_RULES: list[dict[str, Any]] = [
    {"type": "sheet_name"},
    {"type": "sheet_data", **PAIR},
    {"type": "sheet_fuzzy", **PAIR, "rules": [{"range": ["A1:H20"], "type": "exact_match"}]},
    {"type": "sparkline", **PAIR},
    {"type": "chart", **PAIR, "chart_props": ["type", "title", "legend", "xtitle", "ytitle", "ztitle", "anchor"]},
    {"type": "style", **PAIR, "props": ["bgcolor", "font_color", "font_bold", "number_format", "merge", "hyperlink"]},
    {"type": "freeze", **PAIR},
    {"type": "zoom", "sheet_idx": 0, "method": "le", "ref": 400},
    {"type": "data_validation", "sheet_idx": 0, "dv_props": []},
    {"type": "row_props", **PAIR, "props": ["hidden", "height", "collapsed"]},
    {"type": "col_props", **PAIR, "props": ["hidden", "width", "auto_size", "collapsed"]},
    {"type": "filter", **PAIR},
    {"type": "pivot_table", **PAIR, "pivot_props": ["name", "location", "filter", "col_fields", "data_fields"]},
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["Cs"]), max_size=12),
    st.dates(),
)
TABLES = st.lists(st.lists(SCALARS, min_size=1, max_size=4), min_size=1, max_size=5)


class TestLaws:
    @settings(max_examples=12, deadline=None)
    @given(rows=TABLES)
    def test_a_workbook_equals_itself(self, tmp_path_factory: pytest.TempPathFactory, rows: list[list[Any]]) -> None:
        cells = [[_safe(cell) for cell in row] for row in rows]
        path = str(xlsx.book(tmp_path_factory.mktemp("law") / "book.xlsx", cells))
        for strict in (False, True):
            result = compare_table(path, path, rules=ALL_RULES, strict_upstream=strict)
            assert (result.value, result.reasons) == (1.0, ("all 13 rules are met",))

    @settings(max_examples=8, deadline=None)
    @given(data=st.data(), found=TABLES, wanted=TABLES)
    def test_the_order_of_rules_does_not_matter(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, found: Any, wanted: Any
    ) -> None:
        folder = tmp_path_factory.mktemp("law")
        paths = []
        for name, rows in (("result", found), ("gold", wanted)):
            paths.append(str(xlsx.book(folder / f"{name}.xlsx", [[_safe(cell) for cell in row] for row in rows])))
        shuffled = data.draw(st.permutations(ALL_RULES))
        values = {compare_table(*paths, rules=rules).value for rules in (ALL_RULES, shuffled)}
        assert len(values) == 1
        assert values <= {0.0, 1.0}


def _safe(cell: Any) -> Any:
    """A value that a sheet can hold: text that starts with `=` would be a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith("=") else cell


class TestCheck:
    def test_every_published_task_is_understood(self) -> None:
        root = Path(__file__).parents[7] / "shared" / "benchmarks"
        if not root.is_dir():
            pytest.skip("needs the published tasks beside the checkout (shared/benchmarks)")
        checked = 0
        for path in root.glob("*/**/*.json"):
            task = json.loads(path.read_text())
            evaluator = task.get("evaluator", {}) if isinstance(task, dict) else {}
            names, options = evaluator.get("func", []), evaluator.get("options")
            pairs = zip(names, options, strict=True) if isinstance(names, list) and options else [(names, options)]
            for name, each in pairs:
                if name == "compare_table":
                    compare_table.check(each)  # type: ignore[attr-defined]
                    checked += 1
        assert checked >= 100

    @pytest.mark.parametrize(
        ("options", "path"),
        [
            ({}, "rules"),
            ({"rules": []}, "rules"),
            ({"rules": [{"type": "sheet_colour"}]}, "rules.0"),
            ({"rules": [{"type": "sheet_name", "extra": 1}]}, "rules.0.sheet_name.extra"),
            ({"rules": [{"type": "freeze", "sheet_idx0": "Sheet1", "sheet_idx1": 0}]}, "rules.0.freeze.sheet_idx0"),
            ({"rules": [{"type": "freeze", "sheet_idx0": True, "sheet_idx1": 0}]}, "rules.0.freeze.sheet_idx0"),
            ({"rules": [{"type": "zoom", "sheet_idx": 0, "method": "near", "ref": 1}]}, "rules.0.zoom"),
            ({"rules": [{"type": "style", **PAIR, "props": ["colour"]}]}, "rules.0.style.props.0"),
            ({"rules": [{"type": "check_cell", "sheet_idx": 0, "coordinate": "7", "props": {}}]}, "rules.0.check_cell"),
            ({"rules": [{"type": "sheet_fuzzy", **PAIR, "rules": [{"range": ["x"], "type": "includes"}]}]}, "rules.0"),
        ],
    )
    def test_faults_of_rules_have_a_path(self, options: dict[str, Any], path: str) -> None:
        for dialect in ("osworld", "waa"):
            with pytest.raises(Invalid) as caught:
                registry.lookup(PluginKind.METRIC, "compare_table", dialect).check(options)
            assert caught.value.path.startswith(path)

    def test_wrong_options_are_the_tasks_fault(self, tmp_path: Path) -> None:
        path = str(xlsx.book(tmp_path / "book.xlsx", xlsx.SALES))
        with raises_code(EvaluatorFailed, "invalid_rule"):
            compare_table(path, path, rules=[{"type": "nonsense"}])


class TestOddFiles:
    RULES: ClassVar[Any] = [{"type": "sheet_data", **PAIR}, {"type": "style", **PAIR, "props": ["bgcolor"]}]

    @pytest.fixture
    def gold(self, tmp_path: Path) -> Path:
        return xlsx.book(tmp_path / "gold.xlsx", xlsx.SALES)

    @pytest.mark.parametrize(
        ("part", "data"),
        [
            ("xl/worksheets/sheet1.xml", b"<worksheet><sheetData><row r='1'>"),
            ("xl/worksheets/sheet1.xml", b""),
            ("xl/worksheets/sheet1.xml", b"<x><sheetData><row r='0'><c/></row></sheetData></x>"),
            (
                "xl/worksheets/sheet1.xml",
                b'<worksheet><sheetData><row r="1"><c r="ZZZZ1"/></row></sheetData></worksheet>',
            ),
            (
                "xl/worksheets/sheet1.xml",
                b'<worksheet><sheetData><row><c t="s"><v>9</v></c></row></sheetData></worksheet>',
            ),
            ("xl/worksheets/sheet1.xml", b'<!DOCTYPE x [<!ENTITY a "b">]><worksheet>&a;</worksheet>'),
            ("xl/workbook.xml", b"no xml"),
            ("xl/workbook.xml", b"<workbook/>"),
            ("xl/styles.xml", b"<styleSheet"),
        ],
    )
    def test_damage_is_a_reason(self, gold: Path, tmp_path: Path, part: str, data: bytes) -> None:
        result = xlsx.replaced(gold, {part: lambda _: data}, tmp_path / "result.xlsx")
        found = compare_table(str(result), str(gold), rules=self.RULES)
        assert found.value == 0.0
        assert found.reasons
        with pytest.raises(EvaluatorFailed):
            compare_table(str(gold), str(result), rules=self.RULES)

    def test_a_far_cell_costs_nothing(self, gold: Path, tmp_path: Path) -> None:
        """Two cells at the ends of a sheet span 17 thousand million empty ones."""
        far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
        result = xlsx.replaced(
            gold, {"xl/worksheets/sheet1.xml": lambda old: old.replace(b"</sheetData>", far)}, tmp_path / "result.xlsx"
        )
        assert compare_table(str(result), str(gold), rules=ALL_RULES).value == 0.0
        assert compare_table(str(result), str(result), rules=ALL_RULES).value == 1.0

    def test_any_way_of_writing_cells(self, gold: Path, tmp_path: Path) -> None:
        """Names with a prefix, attributes in another order, comments: as another program may write it."""
        part = "xl/worksheets/sheet1.xml"
        ways = [
            lambda old: old.replace(b"<sheetData>", b"<sheetData><!-- made by hand -->"),
            lambda old: (
                old.replace(b"xmlns=", b"xmlns:x=")
                .replace(b"</", b"<//")
                .replace(b"<", b"<x:")
                .replace(b"<x://", b"</x:")
            ),
            lambda old: old.replace(b"<c r=", b"<c  r="),
        ]
        for way in ways:
            result = xlsx.replaced(gold, {part: way}, tmp_path / "result.xlsx")
            assert compare_table(str(result), str(gold), rules=ALL_RULES).reasons == ("all 13 rules are met",)


class TestLibreOffice:
    def test_libreoffice_copies_equal_the_originals(self, tmp_path: Path) -> None:
        """Upstream's failures: openpyxl's golds against LibreOffice's files."""
        originals = [
            Path(str(CASES["compare_table"].passing(tmp_path).args[0])),
            xlsx.charted(tmp_path / "line.xlsx", "line", title="Rent", titles=("Month", "Euro")),
            xlsx.charted(tmp_path / "pie.xlsx", "pie", title="Rent", legend="b"),
            xlsx.charted(tmp_path / "scatter.xlsx", "scatter", rows=[["x", "y"], [1, 2], [2, 4], [3, 9], [4, 8]]),
            xlsx.pivoted(tmp_path / "pivot.xlsx"),
            xlsx.sparkled(xlsx.book(tmp_path / "spark.xlsx", xlsx.SALES), {"F2": "Sheet1!B2:C2"}),
        ]
        rules: list[dict[str, Any]] = [
            {"type": "sheet_name"},
            {"type": "sheet_data", **PAIR},
            {"type": "chart", **PAIR, "chart_props": ["type", "title", "legend", "direction", "xtitle", "ytitle"]},
            {"type": "style", **PAIR, "props": ["bgcolor", "font_bold", "font_color"]},
            {"type": "row_props", **PAIR, "props": ["hidden"]},
            {"type": "sparkline", **PAIR},
            {
                "type": "pivot_table",
                "sheet_idx0": -1,
                "sheet_idx1": "EI-1",
                "pivot_props": ["row_fields", "data_fields"],
            },
        ]
        for original, saved in zip(originals, soffice_all(originals, "xlsx"), strict=True):
            for result, gold in itertools.permutations((original, saved)):
                found = compare_table(str(result), str(gold), rules=rules)
                assert found.reasons == ("all 7 rules are met",), original.name
