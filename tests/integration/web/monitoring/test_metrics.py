"""The metrics of a real scrape: what alerts and dashboard use, labels, and who may read them."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer
import yaml
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from sqlalchemy.orm import Session

from backend.cli.main import app
from backend.config import Settings
from backend.domain.errors import AttemptFailure, FailureClass
from backend.services.attempts import attempts
from backend.services.scheduling.claims import Claim
from backend.web.app import create_app
from tests.factories.records import World
from tests.integration.web.conftest import OWN, client_to

ROOT = Path(__file__).resolve().parents[4]
ALERTS = ROOT / "deploy/monitoring/alerts.yml"
RULES: list[dict[str, Any]] = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
NAME = re.compile(r"\b(?:deskarena|process)_[a-z_]+\b")


def samples(text: str) -> dict[str, list[Any]]:
    """Samples by name, as a parser of Prometheus' format reads them."""
    found: dict[str, list[Any]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample)
    return found


def declared(text: str) -> set[str]:
    """Names that a query may use."""
    kinds = {line.split()[2]: line.split()[3] for line in text.splitlines() if line.startswith("# TYPE")}
    return {
        name + end
        for name, kind in kinds.items()
        for end in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))
    }


def lose_and_fail(session: Session, claim: Claim) -> None:
    """A transaction that is rolled back."""
    attempts.finish_lost(session, claim.fence, AttemptFailure(FailureClass.GUEST, "desktop_gone", "gone"), {})
    raise ZeroDivisionError


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in RULES)
    for panel in json.loads((ROOT / "deploy/monitoring/dashboard.json").read_text())["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))


class TestScrape:
    def test_alerts_dashboard_and_docs_name_existing_metrics(self, client: TestClient) -> None:
        names = declared(client.get("/metrics").text)
        used = {name for each in expressions() for name in NAME.findall(each)}
        assert used - names == set()
        page = (ROOT / "docs/internals/monitoring.md").read_text() + (
            ROOT / "docs/internals/autoscaling.md"
        ).read_text()
        bases = {re.sub(r"_(bucket|sum|count)$", "", name) for name in names if name.startswith("deskarena_")}
        assert {name for name in bases if f"`{name}`" not in page and not name.endswith("_created")} == set()

    def test_counts_by_template_however_the_answer_is_made(self, client: TestClient) -> None:
        def count(route: str, status: str) -> float:
            found = samples(client.get("/metrics").text).get("deskarena_http_requests_total", [])
            wanted = {"route": route, "method": "GET", "status": status}
            return sum(float(each.value) for each in found if each.labels == wanted)

        run = client.get("/api/v1/runs").json()["items"][0]["id"]
        before = count("/runs/{run_id}", "200"), count("(none)", "404"), count("/api/v1/runs/{run_id}", "404")
        for _ in range(2):  # The second one is a page that was computed already.
            client.get(f"/runs/{run}", headers={"accept": "text/html", "cache-control": ""})
        client.get("/nothing/here")
        client.get("/api/v1/runs/018f0000-0000-7000-8000-000000000000")
        after = count("/runs/{run_id}", "200"), count("(none)", "404"), count("/api/v1/runs/{run_id}", "404")
        assert tuple(new - old for new, old in zip(after, before, strict=True)) == (2, 1, 1)

    def test_reports_zero_valued_series(self, client: TestClient) -> None:
        found = samples(client.get("/metrics").text)
        ended = {
            (each.labels["outcome"], each.labels["failure_class"])
            for each in found["deskarena_episodes_ended_last_hour"]
        }
        assert {("scored", ""), ("lost", "guest"), ("cancelled", "")} <= ended
        assert ("lost", "") not in ended
        assert sum(each.value for each in found["deskarena_leases"]) > 0
        assert found["deskarena_frame_age_seconds"][0].value >= 0
        assert [each.value for each in found["deskarena_database_up"]] == [1]

    def test_ended_attempt_is_counted_once_after_commit(self, fresh: TestClient, installation: World) -> None:
        def count() -> float:
            found = samples(fresh.get("/metrics").text).get("deskarena_attempts_ended_total", [])
            return sum(float(each.value) for each in found if each.labels["state"] == "lost")

        before = count()
        installation.submit()
        claim = installation.must_claim(installation.worker())
        with pytest.raises(ZeroDivisionError):
            installation.do(lose_and_fail, claim)
        assert count() == before
        installation.lose(claim)
        assert count() == before + 1

    def test_reports_an_unavailable_database(self, tmp_path: Path) -> None:
        text = client_to(create_app(Settings(data_dir=tmp_path, database_url=SecretStr("")))).get("/metrics").text
        assert samples(text)["deskarena_database_up"][0].value == 0
        assert "deskarena_http_requests_open" in text


def test_metrics_token_suffices_with_accounts(installation: World, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, accounts=True, metrics_token=SecretStr("token-of-figures"))
    client = TestClient(create_app(settings, installation.factory, installation.store), base_url=OWN)
    headers = {"authorization": "Bearer token-of-figures"}
    assert client.get("/metrics", headers=headers).status_code == 200
    assert client.get("/api/v1/runs", headers=headers).status_code == 401
    assert client.get("/metrics").status_code == 401


class TestAlerts:
    def test_alerts_and_runbook_sections_match(self) -> None:
        titles = re.findall(r"^## (\w+)$", (ROOT / "docs/internals/runbooks.md").read_text(), re.MULTILINE)
        assert titles == [rule["alert"] for rule in RULES]
        for rule in RULES:
            assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
            assert rule["annotations"]["runbook_url"].endswith(f"/docs/internals/runbooks.html#{rule['alert'].lower()}")
            assert rule["labels"]["severity"] in {"critical", "warning", "info"}

    def test_each_runbook_section_has_meaning_diagnosis_and_action(self) -> None:
        _, *sections = (ROOT / "docs/internals/runbooks.md").read_text().split("\n## ")
        for section in sections:
            means, looks, acts = re.split(r"\n\*\*(?:Look|Do):\*\*\n", section)
            assert re.findall(r"^\*\*(.+?):\*\* \S", means, re.MULTILINE) == ["Means", "Users notice"]
            commands = re.findall(r"^- (`+)(.+?)\1:(?= |$)", looks, re.MULTILINE | re.DOTALL)
            assert len(commands) == len(re.findall("^- ", looks, re.MULTILINE)) == 3, section
            assert re.search(r"^1\. \S", acts, re.MULTILINE)
            for words in (command.split() for _, command in commands if command.startswith("deskarena ")):
                found: Any = typer.main.get_command(app)
                for word in words[1:]:
                    if not isinstance(found, click.Group):
                        break
                    assert word in found.commands, words
                    found = found.commands[word]

    def test_kubernetes_rules_equal_the_alerts(self) -> None:
        made = yaml.safe_load((ROOT / "deploy/k8s/components/monitoring/rules.yaml").read_text())
        assert made["spec"]["groups"] == yaml.safe_load(ALERTS.read_text())["groups"]

    @pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool, of the system package prometheus")
    def test_promtool_accepts_the_rules(self) -> None:
        done = subprocess.run(["promtool", "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
