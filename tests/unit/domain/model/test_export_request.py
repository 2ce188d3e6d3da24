import pytest
from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.export_request import Filters, MeasureMinimum, check_form
from backend.domain.model.trajectory_export import AttemptResult
from tests.error_codes import raises_code


class TestFilters:
    def test_solved_ones_unless_told_otherwise(self) -> None:
        assert Filters().results == (AttemptResult.SOLVED,)

    @pytest.mark.parametrize("text", ["CR>=0.5", "CR=0.5", " CR >= 5e-1 "])
    def test_a_floor_from_text(self, text: str) -> None:
        assert Filters.model_validate({"measures": [text]}).measures == (MeasureMinimum(name="CR", least=0.5),)

    @pytest.mark.parametrize("text", ["CR", "CR>0.5", ">=1", "CR>=much", "CR>=nan", "x" * 500])
    def test_refuses_what_is_no_floor(self, text: str) -> None:
        with pytest.raises(ValidationError):
            Filters.model_validate({"measures": [text]})

    def test_a_time_needs_its_zone(self) -> None:
        with pytest.raises(ValidationError, match="zone"):
            Filters.model_validate({"since": "2026-11-01T00:00:00"})


class TestCheckForm:
    def test_a_form_without_a_table(self) -> None:
        check_form("x", "jsonl", None)
        with raises_code(Invalid, "invalid_request", path="format"):
            check_form("x", "parquet", None)
