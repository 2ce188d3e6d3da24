"""`deskarena budget` against a service: what it asks for and prints."""

from typing import Any

import pytest

from backend.cli.main import main
from tests.integration.cli.service import ScriptedService, serving

UNCOUNTED: dict[str, Any] = {
    "period": "total",
    **dict.fromkeys(("usd", "tokens", "desktop_hours", "spent_usd", "spent_tokens", "spent_desktop_hours")),
    "reached": "",
}
MONTH = {**UNCOUNTED, "period": "month", "usd": 500, "spent_usd": 12.5, "spent_tokens": 13200, "spent_desktop_hours": 0}
ANSWERS = {
    "GET /api/v1/budgets": {"items": [MONTH, UNCOUNTED]},
    "PATCH /api/v1/budgets/month": {**MONTH, "tokens": 20_000},
}


def run(service: ScriptedService, *words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["budget", *words, "--server", service.url])
    return int(ended.value.code or 0)


class TestShow:
    def test_spending_that_was_not_counted_is_no_zero(self, capsys: pytest.CaptureFixture[str]) -> None:
        with serving(ANSWERS) as service:
            assert run(service, "show") == 0
        month, total = capsys.readouterr().out.splitlines()[1:]
        assert [word.strip() for word in month.split("  ") if word] == [
            "month",
            "12.50 of 500.00",
            "13,200, no limit",
            "0.00, no limit",
        ]
        assert total.count("not counted, no limit") == 3


class TestSet:
    def test_sends_what_was_given(self, capsys: pytest.CaptureFixture[str]) -> None:
        with serving(ANSWERS) as service:
            assert run(service, "set", "month", "--tokens", "20000", "--desktop-hours", "none") == 0
        assert service.asked[-1][2] == {"tokens": 20_000, "desktop_hours": None}
        assert "13,200 of 20,000" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("words", "named"),
        [((), "--usd"), (("--tokens", "many"), "'many'"), (("--usd", ""), "--usd"), (("--tokens", "1.5"), "'1.5'")],
    )
    def test_what_is_no_amount_is_refused(
        self, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], named: str
    ) -> None:
        with serving(ANSWERS) as service:
            assert run(service, "set", "month", *words) == 2
            assert service.asked == []
        assert named in capsys.readouterr().err
