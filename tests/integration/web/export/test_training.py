"""Training data over a real database: which data are exported, and that they can be read back."""

import hashlib
import io
import itertools
import json
import re
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from backend.db.models import Attempt, Benchmark, Episode, Evaluation, Run, Step
from backend.domain.errors import FailureClass
from backend.services.export import export as exporting
from tests.factories.records import World
from tests.factories.scene import PageScene
from tests.integration.web.conftest import client_of

Files = Mapping[str, bytes]
EXPORT = "/api/v1/trajectories/export"
COUNT = "/api/v1/trajectories/count"
PICTURE = re.compile(r"images/[0-9a-f]{64}\.(jpg|png)")


def files_of(client: TestClient, query: str = "") -> Files:
    answer = client.get(f"{EXPORT}?{query}")
    assert answer.status_code == 200, answer.text
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        return {info.name: (archive.extractfile(info) or io.BytesIO()).read() for info in archive}


def rows_of(files: Files, prefix: str = "data/") -> list[dict[str, Any]]:
    found = sorted(name for name in files if name.startswith(prefix))
    return [json.loads(line) for name in found for line in files[name].splitlines()]


def manifest_of(files: Files) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files["manifest.json"])
    return found


def count(client: TestClient, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{COUNT}?{query}").json()
    return found


class TestRoundTrip:
    @pytest.mark.parametrize("form", ["steps", "trajectories", "chat", "omnibench_subtasks"])
    def test_every_picture_is_there_once_and_the_counts_are_equal(self, client: TestClient, form: str) -> None:
        query = "any_result=true"
        files, counted = files_of(client, f"{query}&form={form}"), count(client, query)
        manifest, index = manifest_of(files), rows_of(files, "index.jsonl")
        excluded = sum(manifest["excluded"].values())
        assert manifest["counts"]["trajectories"] == len(index)
        names = {run["id"]: run["configuration"]["name"] for run in manifest["runs"]}
        assert [row["configuration"] for row in index] == [names[row["run"]] for row in index]
        assert len(index) + excluded == counted["trajectories"] + sum(counted["excluded"].values())
        assert len(rows_of(files, "excluded.jsonl")) == excluded
        named = {word for row in rows_of(files) for word in pictures_in(row)}
        listed = rows_of(files, "images.jsonl")
        assert named == {row["name"] for row in listed} == {name for name in files if name.startswith("images/")}
        assert len(listed) == manifest["counts"]["pictures"] > 0
        for row in listed:
            assert hashlib.sha256(files[row["name"]]).hexdigest() == row["sha256"]
            assert len(files[row["name"]]) == row["bytes"]

    def test_the_manifest_has_the_hash_of_every_other_file(self, client: TestClient) -> None:
        files = files_of(client)
        named = {file["name"]: file for file in manifest_of(files)["files"]}
        assert set(named) == {name for name in files if not name.startswith("images/")} - {"manifest.json"}
        for name, file in named.items():
            assert (file["sha256"], file["bytes"]) == (hashlib.sha256(files[name]).hexdigest(), len(files[name]))
            assert file["rows"] == len(files[name].splitlines())

    def test_the_same_question_gives_the_same_bytes(self, client: TestClient) -> None:
        assert client.get(EXPORT).content == client.get(EXPORT).content
        assert list(files_of(client))[-1] == "manifest.json"

    def test_a_zip_has_the_same_files(self, client: TestClient) -> None:
        with zipfile.ZipFile(io.BytesIO(client.get(f"{EXPORT}?archive=zip").content)) as archive:
            assert {info.filename: archive.read(info) for info in archive.infolist()} == files_of(client)

    def test_large_export_is_split_into_parts(self, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = rows_of(files_of(client))
        monkeypatch.setattr(exporting, "PART", 3)
        files = files_of(client)
        assert rows_of(files) == whole
        parts = [name for name in files if name.startswith("data/")]
        assert parts == [f"data/part-{number:05}.jsonl" for number in range(len(parts))]
        assert len(parts) > 2
        later = files_of(client, "from_part=2")
        assert [name for name in later if name.startswith("data/")] == parts[2:]
        assert later["manifest.json"] == files["manifest.json"]

    def test_parquet_export_has_the_same_rows(self, client: TestClient) -> None:
        parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: make setup")
        files = files_of(client, "format=parquet&form=chat&pictures=false")
        table = parquet.read_table(io.BytesIO(files["data/part-00000.parquet"]))
        assert table.num_rows == manifest_of(files)["counts"]["trajectories"]
        assert not [name for name in files if name.startswith("images/")]


def pictures_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [found for inner in value.values() for found in pictures_in(inner)]
    if isinstance(value, list):
        return [found for inner in value for found in pictures_in(inner)]
    return [value] if isinstance(value, str) and PICTURE.fullmatch(value) else []


class TestFilters:
    @pytest.mark.parametrize(
        "query",
        [
            "&".join(pair)
            for pair in itertools.product(
                ("result=solved", "result=partial&result=unsolved", "any_result=true"),
                ("", "kind=oracle", "kind=human&kind=other", "kind=model"),
                ("", "domain=images&domain=files", "difficulty=hard", "min_score=0.5", "measure=similarity>=0.75"),
            )
        ],
    )
    def test_filters_match_the_rows(self, client: TestClient, everything: list[dict[str, Any]], query: str) -> None:
        asked: dict[str, list[str]] = {}
        for pair in filter(None, query.split("&")):
            name, _, value = pair.partition("=")
            asked.setdefault(name, []).append(value)
        wanted = [row for row in everything if fits(row, asked)]
        found = count(client, query)
        assert found["trajectories"] == len(wanted)
        assert found["steps"] == sum(row["steps"] for row in wanted)

    def test_time_is_from_and_before(self, client: TestClient, everything: list[dict[str, Any]]) -> None:
        middle = sorted(row["ended_at"] for row in everything)[len(everything) // 2]
        before = count(client, "any_result=true&until=" + middle.replace("+", "%2B"))["trajectories"]
        after = count(client, "any_result=true&since=" + middle.replace("+", "%2B"))["trajectories"]
        assert before + after == len(everything)

    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ("measure=CR", "expected NAME>=VALUE"),
            ("since=2026-11-01T00:00:00", "zone"),
            ("min_score=2", "must be at most 1"),
            ("result=good", "must be"),
        ],
    )
    def test_a_wrong_one_is_named(self, client: TestClient, query: str, words: str) -> None:
        answer = client.get(f"{COUNT}?{query}")
        assert answer.status_code == 422
        assert words in answer.text

    @pytest.mark.parametrize("query", ["form=nothing", "form=omnibench_tasks&format=parquet", "archive=rar"])
    def test_invalid_format_is_refused_before_streaming(self, client: TestClient, query: str) -> None:
        assert client.get(f"{EXPORT}?{query}").status_code in {404, 422}


def fits(row: Mapping[str, Any], asked: Mapping[str, list[str]]) -> bool:
    """The filters once more, by the rows of an export of everything."""
    same = {"result": "result", "kind": "agent_kind", "domain": "domain", "difficulty": "difficulty"}
    if any(row[name] not in asked[field] for field, name in same.items() if field in asked):
        return False
    if "min_score" in asked and row["score"] < float(asked["min_score"][0]):
        return False
    return "measure" not in asked or row["measures"]["similarity"] >= 0.75


@pytest.fixture(scope="module")
def everything(scene: PageScene, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The metadata of every trajectory, with the database's facts about its task."""
    client = client_of(scene.world, tmp_path_factory.mktemp("data"))
    files = files_of(client, "any_result=true&form=trajectories&pictures=false")
    found = []
    for row in rows_of(files):
        episode = client.get(f"/api/v1/episodes/{row['source']['episode']}").json()
        more = {"difficulty": episode["difficulty"], "ended_at": row["source"]["ended_at"], "steps": episode["steps"]}
        found.append({**row, **more})
    return found


class TestLeftOut:
    def test_excluded_trajectories_have_a_reason(self, client: TestClient, scene: PageScene) -> None:
        rows = rows_of(files_of(client, "any_result=true&pictures=false"), "excluded.jsonl")
        reasons = {row["reason"] for row in rows}
        assert {"lost: guest", "not runnable", "waiting", "running", "the task is in quarantine"} <= reasons
        assert {row["episode"]: row["reason"] for row in rows}[str(scene.lost)] == "lost: guest"

    def test_trajectories_without_pictures_are_excluded(self, client: TestClient, scene: PageScene) -> None:
        with scene.world.work() as session:
            attempt = select(Attempt.id).where(Attempt.episode_id == scene.solved).scalar_subquery()
            kept = {row.id: row.frame_sha256 for row in session.scalars(select(Step).where(Step.attempt_id == attempt))}
            session.execute(update(Step).where(Step.id.in_(kept)).values(frame_sha256=None))
        try:
            assert count(client)["excluded"]["no picture was recorded"] == 1
        finally:
            with scene.world.work() as session:
                for key, sha256 in kept.items():
                    session.execute(update(Step).where(Step.id == key).values(frame_sha256=sha256))

    def test_missing_picture_is_marked(self, fresh: TestClient, installation: World) -> None:
        played(installation)
        installation.store.blobs.clear()
        files = files_of(fresh)
        assert manifest_of(files)["counts"]["pictures_missing"] == 1
        assert rows_of(files, "images.jsonl")[0]["missing"] is True


def played(world: World, score: float = 1.0) -> None:
    """One scored episode and two that wait, all by the same agent."""
    world.submit()
    worker = world.worker("w2", pid=2)
    world.score(world.must_claim(worker), score)


class TestManifest:
    def test_licences_runs_and_versions(self, client: TestClient) -> None:
        found = manifest_of(files_of(client, "any_result=true&pictures=false"))
        (benchmark,) = found["benchmarks"]
        assert (benchmark["name"], benchmark["licence_status"], benchmark["note"]) == ("starter", "open", "")
        assert list(benchmark["versions"]) == ["1"]
        assert len(benchmark["versions"]["1"]) == 64
        assert {"navi", "oracle", "human"} <= {run["agent"] for run in found["runs"]}
        assert all("budget" in run["pins"] and "agent" in run["config"] for run in found["runs"])

    @pytest.mark.parametrize(
        ("licence", "words"), [("", "licence is unknown (no licence is given)"), ("CC-BY-NC-4.0", "forbids some uses")]
    )
    def test_trajectories_without_an_open_licence_are_excluded(
        self, fresh: TestClient, installation: World, licence: str, words: str
    ) -> None:
        played(installation)
        with installation.work() as session:
            session.execute(update(Benchmark).values(licence=licence))
        (note,) = manifest_of(files_of(fresh))["notes"]
        assert words in note
        assert count(fresh)["licences"][0]["note"] == note
        only = count(fresh, "open_licence=true")
        assert (only["trajectories"], only["excluded"]["the licence is not known to be open"]) == (0, 1)

    def test_empty_export_has_all_files(self, fresh: TestClient) -> None:
        files = files_of(fresh)
        assert set(files) == {"index.jsonl", "excluded.jsonl", "images.jsonl", "manifest.json"}
        assert manifest_of(files)["counts"]["trajectories"] == 0


class TestResults:
    def test_a_reached_part_is_part_of_the_way(self, fresh: TestClient, installation: World) -> None:
        played(installation, 0.0)
        assert count(fresh, "any_result=true")["results"] == {"unsolved": 1}
        part = {"name": "a", "kind": "node", "value": 1.0, "step": 1}
        with installation.work() as session:
            session.execute(update(Evaluation).values(parts=[part]))
        assert count(fresh, "result=partial")["results"] == {"partial": 1}
        (row,) = rows_of(files_of(fresh, "result=partial&form=omnibench_tasks"))
        assert row["topological_order"] == ["a"]
        steps = rows_of(files_of(fresh, "result=partial"))
        assert [step["reached"] for step in steps] == [[], ["a"]]

    def test_actors_are_exported(self, fresh: TestClient, installation: World) -> None:
        played(installation)
        with installation.work() as session:
            session.execute(update(Run).values(pins={"model": {"asked": "m"}}))
        assert count(fresh)["kinds"] == {"model": 1}
        with installation.work() as session:
            session.execute(update(Episode).values(human_assisted=True))
        assert count(fresh, "kind=human_assisted")["trajectories"] == 1


class TestSecrets:
    def test_secrets_are_in_no_file(self, fresh: TestClient, installation: World, tmp_path: Path) -> None:
        (tmp_path / "secrets").mkdir()
        (tmp_path / "secrets" / "client_password").write_text("I click")
        played(installation)
        with installation.work() as session:
            session.execute(update(Run).values(pins={"parameters": {"user_password": "open sesame"}}))
        files = files_of(fresh, "form=trajectories")
        assert rows_of(files)[0]["steps"][0]["explanation"] == "[secret]"
        assert b"I click" not in b"".join(files.values())
        assert b"open sesame" not in files["manifest.json"]

    def test_a_lost_attempt_gives_nothing(self, fresh: TestClient, installation: World) -> None:
        installation.submit()
        installation.lose(installation.must_claim(installation.worker("w2", pid=2)), FailureClass.EVALUATOR)
        assert count(fresh)["excluded"]["lost: evaluator"] == 1


class TestPage:
    def test_page_counts_match_the_filters(self, client: TestClient) -> None:
        text = client.get("/exports?kind=oracle").text
        assert f'<div class="value">{count(client, "kind=oracle")["trajectories"]}</div>' in text
        assert "deskarena export trajectories --out trajectories --kind oracle" in text

    def test_a_form_without_a_result_asks_for_all(self, client: TestClient) -> None:
        assert "--result any" in client.get("/exports?form=steps").text
        assert "--result any" not in client.get("/exports").text

    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ("measure=CR", "expected NAME&gt;=VALUE"),
            ("format=parquet&form=omnibench_tasks", "has no table"),
            ("form=nothing", "there is no export format"),
            ("result=good", "must be"),
            ("run=this", "is not an id"),
            ("since=yesterday", "must be a date and time"),
        ],
    )
    def test_errors_are_shown_beside_their_field(self, client: TestClient, query: str, words: str) -> None:
        answer = client.get(f"/exports?{query}")
        assert answer.status_code == 200
        assert answer.text.count(words) >= 1
        assert 'class="note bad"' in answer.text

    def test_dates_are_utc_and_empty_fields_do_not_filter(self, client: TestClient) -> None:
        text = client.get("/exports?since=2026-01-01&until=&min_score=&measure=&form=chat&result=solved").text
        assert "--since 2026-01-01T00:00:00Z" in text
        assert "--until" not in text

    def test_page_without_trajectories_says_so(self, fresh: TestClient) -> None:
        assert "no-trajectories" in fresh.get("/exports").text

    def test_hostile_words_are_text(self, client: TestClient) -> None:
        text = client.get("/exports", params={"agent": "<script>alert(1)</script>", "run": "<b>"}).text
        assert "<script>alert" not in text
