import pytest
from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.export_request import ExportRequest, Filters, MeasureMinimum, check_form, read_filters
from backend.domain.model.trajectory_export import AttemptResult
from tests.error_codes import raises_code


class TestFilters:
    def test_default_is_solved_attempts(self) -> None:
        assert Filters().results == (AttemptResult.SOLVED,)

    @pytest.mark.parametrize("text", ["CR>=0.5", "CR=0.5", " CR >= 5e-1 "])
    def test_parses_a_minimum_from_text(self, text: str) -> None:
        assert Filters.model_validate({"measures": [text]}).measures == (MeasureMinimum(name="CR", least=0.5),)

    @pytest.mark.parametrize("text", ["CR", "CR>0.5", ">=1", "CR>=much", "CR>=nan", "x" * 500])
    def test_invalid_minimum_is_refused(self, text: str) -> None:
        with pytest.raises(ValidationError):
            Filters.model_validate({"measures": [text]})

    def test_time_requires_a_zone(self) -> None:
        with pytest.raises(ValidationError, match="zone"):
            Filters.model_validate({"since": "2026-11-01T00:00:00"})
        with pytest.raises(ValidationError, match="zone"):
            Filters.model_validate({"since": "2026-11-01T00:00:00Z", "until": "2026-11-02T00:00:00"})

    def test_leaves_out_no_licence_kind_or_measure_by_itself(self) -> None:
        assert Filters().model_dump(exclude={"results"}, exclude_none=True) == {
            **dict.fromkeys(("kinds", "benchmarks", "domains", "levels", "difficulties", "agents", "runs"), ()),
            "measures": (),
            "open_licence": False,
        }

    @pytest.mark.parametrize(
        ("values", "path"),
        [({"min_score": 2}, "min_score"), ({"measures": ["CR>=0.5", "CR"]}, "measures.1"), ({"color": 1}, "color")],
    )
    def test_invalid_field_is_named(self, values: dict[str, object], path: str) -> None:
        with raises_code(Invalid, "invalid_request", path=path):
            read_filters(values)


class TestExportRequest:
    def test_is_the_first_part_with_pictures_as_jsonl(self) -> None:
        request = ExportRequest()
        assert (request.form, request.format, request.pictures, request.from_part) == ("steps", "jsonl", True, 0)


class TestCheckForm:
    def test_format_without_a_table_is_refused(self) -> None:
        check_form("x", "jsonl", None)
        with raises_code(Invalid, "invalid_request", path="format"):
            check_form("x", "parquet", None)
        check_form("x", "parquet", ("column",))
