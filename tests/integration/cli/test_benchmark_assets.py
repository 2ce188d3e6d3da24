"""`deskarena benchmark fetch` and `benchmark asset`: the real command against a service with scripted answers."""

import json
from pathlib import Path
from typing import Any

from tests.integration.cli.service import deskarena, serving

PLACE = "/api/v1/benchmarks/mine/assets"
LIST, FETCH, ADD = f"GET {PLACE}", f"POST {PLACE}/fetch", f"POST {PLACE}"


def row(name: str, state: str = "stored", problem: str = "") -> dict[str, Any]:
    size = 5 if state == "stored" else None
    url = f"https://files.example/{name}"
    return {"url": url, "state": state, "size": size, "tasks": ["a/b"], "problem": problem, "sha256": "0" * 64}


class TestFetch:
    def test_only_what_is_missing_is_fetched(self) -> None:
        answers = {LIST: {"items": [row("a"), row("b", "missing")]}, FETCH: row("b")}
        with serving(answers) as service:
            done = deskarena("benchmark", "fetch", "mine", "--jobs", "2", server=service.url)
        assert done.returncode == 0, done.stderr
        assert [asked[2] for asked in service.asked if asked[0] == FETCH] == [{"url": row("b")["url"], "force": False}]
        assert "[1/1] 5 bytes  https://files.example/b" in done.stderr
        assert "2 of 2 files exist" in done.stderr
        assert done.stdout == ""

    def test_force_downloads_stored_files_again(self) -> None:
        with serving({LIST: {"items": [row("a")]}, FETCH: row("a")}) as service:
            assert deskarena("benchmark", "fetch", "mine", "--force", server=service.url).returncode == 0
        assert len([asked for asked in service.asked if asked[0] == FETCH]) == 1

    def test_a_dead_link_is_listed_and_the_exit_code_says_so(self) -> None:
        dead = row("b", "dead", "https://files.example/b answers with status 404")
        with serving({LIST: {"items": [row("a"), dead]}, FETCH: dead}) as service:
            done = deskarena("benchmark", "fetch", "mine", server=service.url)
        assert done.returncode == 1
        assert "https://files.example/b" in done.stdout
        assert "404" in done.stdout
        assert "1 links are dead" in done.stderr
        assert "asset add mine URL FILE" in done.stderr

    def test_a_server_that_does_not_answer(self) -> None:
        answers = {LIST: {"items": [row("b", "missing")]}, FETCH: (503, {"detail": "no answer"})}
        with serving(answers) as service:
            done = deskarena("benchmark", "fetch", "mine", "-o", "json", server=service.url)
        assert done.returncode == 3
        assert json.loads(done.stdout)[0]["problem"] == "no answer."
        assert len([asked for asked in service.asked if asked[0] == FETCH]) == 3

    def test_a_benchmark_that_is_not_there(self) -> None:
        with serving({}) as service:
            assert deskarena("benchmark", "fetch", "mine", server=service.url).returncode == 2


class TestAsset:
    def test_asset_list_shows_states(self) -> None:
        with serving({LIST: {"items": [row("a"), row("b", "missing")]}}) as service:
            done = deskarena("benchmark", "asset", "list", "mine", "-o", "json", server=service.url)
        assert [one["state"] for one in json.loads(done.stdout)] == ["stored", "missing"]

    def test_asset_add_uploads_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "x.bin").write_bytes(b"bytes")
        with serving({ADD: (201, row("a"))}) as service:
            words = ("benchmark", "asset", "add", "mine", row("a")["url"], str(tmp_path / "x.bin"))
            done = deskarena(*words, server=service.url)
        assert done.returncode == 0, done.stderr
        assert "https://files.example/a: 5 bytes" in done.stdout
        assert b"bytes" in service.asked[0][2]

    def test_add_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        done = deskarena("benchmark", "asset", "add", "mine", "https://a.example/x", str(tmp_path / "no"))
        assert done.returncode == 2
