from pathlib import Path

import pytest

from backend.domain.evaluators.getters.calc.conference_city_in_order import ConferenceCityInOrder
from backend.domain.model.score import Blob


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'\xef\xbb\xbfid,name,city\r\n1,"A, B","New York"\r\n\r\n2,C\r\n', ["New York", ""]),
        (b"", []),
        (b"id,name,city\n", []),
        (None, None),
    ],
)
def test_value_is_the_third_column(data: bytes | None, expected: list[str] | None, tmp_path: Path) -> None:
    blob = Blob(name="/c.csv", data=data, note="absent")
    assert ConferenceCityInOrder().read([blob], {"csv_path": "/c.csv"}, tmp_path) == expected


def test_oversized_csv_field_gives_none(tmp_path: Path) -> None:
    blob = Blob(name="/c.csv", data=b"a,b,c\n1,2," + b"x" * 200_000)
    assert ConferenceCityInOrder().read([blob], {"csv_path": "/c.csv"}, tmp_path) is None
