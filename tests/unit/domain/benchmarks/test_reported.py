import csv
from collections import Counter
from pathlib import Path

import pytest

from backend.domain.benchmarks import reported_results

PAPERS = {
    "waa": "WindowsAgentArena", "osworld": "OSWorld", "omnibench": "OmniBench", "windowsworld": "WindowsWorld",
    "prosoftarena": "ProSoftArena",
}  # fmt: skip
NO_RESULTS = ("WindowsAgentArena", "Table 8")
"""Prices of machines."""


class TestReportedResults:
    def test_published_number_has_its_source(self) -> None:
        (human,) = [
            row
            for row in reported_results("osworld")
            if (row.agent, row.measure, row.group_kind) == ("Human", "success_rate", "overall")
            and "Table 5" in row.source
        ]
        assert (human.value, human.unit, human.source) == (72.36, "percent", "OSWorld paper, Table 5")

    def test_the_windows_tasks_have_their_own(self) -> None:
        rows = reported_results("osworld-windows")
        assert [(row.measure, row.value) for row in rows] == [
            ("success_rate", 2.55), ("correlation_ubuntu_windows", 0.7),
        ]  # fmt: skip

    def test_unpublished_suites_have_no_results(self) -> None:
        assert reported_results("starter") == reported_results("") == []

    def test_parts_of_a_benchmark_are_domains(self) -> None:
        parts = {row.domain for row in reported_results("waa") if row.group_kind == "category"}
        assert "Office" in parts
        assert {row.domain for row in reported_results("waa") if row.group_kind == "overall"} == {None}

    @pytest.mark.parametrize("suite", list(PAPERS))
    def test_every_number_of_the_collection(self, suite: str, shared_dir: Path) -> None:
        with (shared_dir / "reference" / "reported-results.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["benchmark"] == PAPERS[suite]]
        wanted = Counter(
            (row["agent"], row["inputs"], row["metric"], row["group_kind"], row["group"], float(row["value"]))
            for row in rows
            if (row["benchmark"], row["paper_table"]) != NO_RESULTS
        )
        result = Counter(
            (row.agent, row.inputs, row.measure, row.group_kind, row.group, row.value)
            for row in reported_results(suite)
        )
        assert result == wanted
        assert sum(result.values()) > 10
