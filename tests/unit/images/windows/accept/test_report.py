import json
from pathlib import Path

from backend.domain.errors import Unavailable
from worker.images.checks import CheckResult
from worker.images.windows.accept.report import AcceptanceReport, Section, host_facts


class TestReport:
    def test_is_written_after_each_section(self, tmp_path: Path) -> None:
        report = AcceptanceReport(tmp_path / "r.json", lambda _: None)
        assert report.section("one", lambda: Section(name="", facts={"cores": 2}))
        first = json.loads((tmp_path / "r.json").read_text())
        assert not report.section("two", lambda: Section(name="", lines=(CheckResult(name="a", fault="wrong"),)))
        second = json.loads((tmp_path / "r.json").read_text())
        assert (first["ok"], second["ok"]) == (True, False)
        assert [section["name"] for section in second["sections"]] == ["one", "two"]
        assert second["sections"][1]["lines"][0]["fault"] == "wrong"

    def test_typed_errors_are_reported_and_the_next_check_runs(self, tmp_path: Path) -> None:
        def fails() -> Section:
            raise Unavailable("no QEMU", hint="Install it.")

        told: list[str] = []
        report = AcceptanceReport(tmp_path / "r.json", told.append)
        assert not report.section("one", fails)
        assert report.section("two", lambda: Section(name=""))
        assert not report.ok
        assert any("no QEMU. Install it." in line for line in told)


class TestHostFacts:
    def test_says_what_figures_belong_to_and_not_whose_they_are(self) -> None:
        facts = host_facts()
        assert facts["cores"] >= 1
        assert facts["memory_mib"] > 0
        assert not {"hostname", "user"} & set(facts)
