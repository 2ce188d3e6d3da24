"""`deskarena configuration` against a service: what it asks for and prints."""

import json
from typing import Any

import pytest

from backend.cli.main import main
from tests.integration.cli.service import ScriptedService, serving

ROW: dict[str, Any] = {
    "id": "0198c0de-0000-7000-8000-00000000000c",
    "name": "nightly",
    "own_name": "nightly",
    "default_name": "prompt · small-1",
    "agent": "prompt",
    "params": {"model": "small-1"},
    "definition": {"agent": "prompt", "params": {"model": "small-1"}, "image": None},
    "identity_hash": "0" * 64,
    "privileged": False,
    "human": False,
    "runs": 3,
    "created_at": "2026-11-01T12:00:00Z",
    "newest_run_at": "2026-11-02T12:30:05.5Z",
}
PATH = f"/api/v1/configurations/{ROW['id']}"
ANSWERS = {
    "GET /api/v1/configurations": {"items": [ROW], "next": None},
    f"GET {PATH}": ROW,
    f"PATCH {PATH}": {**ROW, "name": "weekly"},
}


def run(service: ScriptedService, *words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["configuration", *words, "--server", service.url])
    assert ended.value.code == 0


class TestConfiguration:
    def test_configuration_list_shows_names_and_times(self, capsys: pytest.CaptureFixture[str]) -> None:
        with serving(ANSWERS) as service:
            run(service, "list", "--search", "small", "-o", "json")
            run(service, "list")
        text = capsys.readouterr().out
        items, end = json.JSONDecoder().raw_decode(text)
        assert [item["name"] for item in items] == ["nightly"]
        assert "2026-11-02 12:30:05 UTC" in text[end:]

    def test_configuration_show_has_its_fields(self, capsys: pytest.CaptureFixture[str]) -> None:
        with serving(ANSWERS) as service:
            run(service, "show", ROW["id"])
        lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
        assert (lines["configuration"], lines["name"], lines["runs"]) == (ROW["id"], "nightly", "3")
        assert "small-1" in lines["params"]

    @pytest.mark.parametrize("name", ["weekly", ""])
    def test_configuration_rename_sends_the_name(self, capsys: pytest.CaptureFixture[str], name: str) -> None:
        with serving(ANSWERS) as service:
            run(service, "rename", ROW["id"], name)
        assert [(asked, body) for asked, _, body in service.asked] == [(f"PATCH {PATH}", {"name": name})]
        assert "weekly" in capsys.readouterr().out

    def test_configuration_compare_shows_excluded_tasks(self, capsys: pytest.CaptureFixture[str]) -> None:
        empty: dict[str, Any] = {name: [] for name in ("conditions", "differences", "tasks", "runs", "configurations")}
        other = "0198c0de-0000-7000-8000-00000000000d"
        answer = {**empty, "left_out": {"quarantined": 2}}
        with serving({"GET /api/v1/compare": answer}) as service:
            run(service, "compare", ROW["id"], other, "--benchmark", "starter", "--version", "3")
        assert service.queries == [{"configuration": [ROW["id"], other], "benchmark": ["starter"], "version": ["3"]}]
        assert "2 tasks left out: quarantined." in capsys.readouterr().out

    def test_invalid_ids_are_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        with serving({}) as service, pytest.raises(SystemExit) as ended:
            main(["configuration", "compare", "x", "y", "--benchmark", "starter", "--server", service.url])
        assert ended.value.code == 2
        assert "deskarena configuration list" in capsys.readouterr().err

    def test_an_unknown_one_is_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        problem = {"detail": "Configuration not found.", "code": "configuration_not_found", "status": 404}
        with serving({f"GET {PATH}": (404, problem)}) as service, pytest.raises(SystemExit) as ended:
            main(["configuration", "show", ROW["id"], "--server", service.url])
        assert ended.value.code not in {0, None}
        assert "not found" in capsys.readouterr().err
