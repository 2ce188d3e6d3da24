import io
import json
import zipfile

import pytest
from fastapi.testclient import TestClient

from tests.factories.scene import Scene

TASK = {
    "id": "say-hello",
    "instruction": "Write hello into hello.txt.",
    "config": [],
    "related_apps": ["mousepad"],
    "evaluator": {
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": ["cat", "/home/user/hello.txt"]},
        "expected": {"type": "rule", "rules": {"expected": "hello"}},
    },
}


def zipped(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def folder(task: object = TASK) -> dict[str, str]:
    return {
        "notes/say-hello.json": json.dumps(task),
        "test_all.json": json.dumps({"notes": ["say-hello"]}),
        "about.json": json.dumps({"licence": "Apache-2.0", "source": "a test", "title": "Mine"}),
    }


def upload(client: TestClient, data: bytes, name: str = "mine", kind: str = "starter") -> tuple[int, dict[str, object]]:
    answer = client.post("/api/v1/benchmarks", data={"kind": kind, "name": name}, files={"file": ("b.zip", data)})
    return answer.status_code, answer.json()


class TestImport:
    def test_a_zip_makes_a_benchmark_and_again_nothing(self, fresh: TestClient) -> None:
        status, made = upload(fresh, zipped(folder()))
        again, same = upload(fresh, zipped(folder()))
        assert (status, made["created"], again, same["created"]) == (201, True, 200, False)
        assert fresh.get("/api/v1/benchmarks/mine").json()["tasks"] == 1

    @pytest.mark.parametrize("above", ["", "my-tasks/"])
    def test_one_domain_alone_or_in_a_folder_of_its_own(self, fresh: TestClient, above: str) -> None:
        status, _ = upload(fresh, zipped({f"{above}notes/say-hello.json": json.dumps(TASK)}), name=f"one{len(above)}")
        assert status == 201

    def test_changed_files_make_a_version(self, fresh: TestClient) -> None:
        upload(fresh, zipped(folder()))
        upload(fresh, zipped(folder({**TASK, "instruction": "Write bye."})))
        found = fresh.get("/api/v1/benchmarks/mine").json()
        assert (found["task_set"]["version"], found["versions"]) == (2, 2)

    @pytest.mark.parametrize(
        ("data", "word"),
        [
            (b"no zip", "zip"),
            (zipped({"../out.json": "{}"}), "leads out"),
            (zipped({"/etc/x.json": "{}"}), "leads out"),
            (zipped(folder({**TASK, "evaluator": 7})), "evaluator"),
        ],
    )
    def test_a_bad_file_is_told_and_nothing_is_made(self, fresh: TestClient, data: bytes, word: str) -> None:
        status, problem = upload(fresh, data)
        assert status == 422
        assert word in str(problem["detail"])
        assert fresh.get("/api/v1/benchmarks/mine").status_code == 404

    def test_an_unknown_kind(self, fresh: TestClient) -> None:
        status, problem = upload(fresh, zipped(folder()), kind="startre")
        assert (status, problem["path"]) == (422, "kind")
        assert "starter" in str(problem["hint"])

    def test_an_evil_name(self, fresh: TestClient) -> None:
        assert upload(fresh, zipped(folder()), name="../x")[0] == 422


class TestBenchmarks:
    def test_list_and_show(self, client: TestClient) -> None:
        (one,) = client.get("/api/v1/benchmarks").json()["items"]
        assert (one["name"], one["tasks"], one["domains"]["files"], one["difficulties"]["unlabelled"]) == (
            "starter", 26, 5, 1,
        )  # fmt: skip
        assert client.get("/api/v1/benchmarks/starter").json() == one

    def test_a_near_name_is_suggested(self, client: TestClient) -> None:
        answer = client.get("/api/v1/benchmarks/startr")
        assert (answer.status_code, "starter" in answer.json()["hint"]) == (404, True)

    def test_tasks_with_their_labels(self, client: TestClient) -> None:
        found = client.get("/api/v1/benchmarks/starter/tasks?domain=settings&words=large").json()["items"]
        assert [(task["task"], task["difficulty"]) for task in found] == [("settings/large-text", "hard")]
        assert found[0]["quarantined"] == "the dialog differs between versions"
        detail = client.get(f"/api/v1/tasks/{found[0]['id']}").json()
        assert detail["spec"]["instruction"] == detail["instruction"]

    def test_lint_names_task_and_place(self, client: TestClient) -> None:
        report = client.get("/api/v1/benchmarks/starter/lint").json()
        assert report["tasks"] == 26
        assert report["ok"] == (not [item for item in report["findings"] if item["severity"] == "error"])
        assert all(item["message"] for item in report["findings"])

    def test_validation_says_what_is_unsound(self, client: TestClient) -> None:
        report = client.get("/api/v1/benchmarks/starter/validation").json()
        bad = [task for task in report["tasks"] if task["sound"] is False]
        assert (report["done"], report["ok"], report["unsound"]) == (True, False, 1)
        assert [(task["task"], task["reason"]) for task in bad] == [
            ("images/crop-logo", "doing nothing scores 1, not 0")
        ]

    def test_validate_starts_three_runs(self, fresh: TestClient) -> None:
        answer = fresh.post("/api/v1/benchmarks/starter/validate")
        report = answer.json()
        assert answer.status_code == 202
        assert sorted(report["runs"]) == ["always_fail", "noop", "oracle"]
        assert not report["done"]


class TestLeaderboard:
    def test_floors_have_no_rank(self, client: TestClient, scene: Scene) -> None:
        rows = client.get("/api/v1/leaderboards/starter").json()["rows"]
        assert [(row["agent"], row["rank"], row["mark"]) for row in rows if row["mark"]] == [("noop", None, "floor")]
        ranked = [row for row in rows if row["rank"]]
        assert {row["agent"] for row in ranked} == {"navi", "navi-2", "pilot"}
        assert [row["rank"] for row in ranked] == sorted(row["rank"] for row in ranked)
        best = next(row for row in rows if row["agent"] == "navi")
        assert (best["missing_tasks"], best["runs"]) == (3, [str(scene.finished)])
        assert best["by_domain"]["files"]["episodes"] == 5

    def test_no_such_version(self, client: TestClient) -> None:
        assert client.get("/api/v1/leaderboards/starter?version=9").status_code == 404


class TestWorkers:
    def test_with_slots_and_abilities(self, client: TestClient) -> None:
        (worker,) = client.get("/api/v1/workers").json()["items"]
        assert (worker["name"], worker["node"], len(worker["slots"])) == ("worker-1", "bench-01", 2)
        assert {slot["state"] for slot in worker["slots"]} == {"leased"}
        assert worker["capabilities"]["providers"]["qemu"]["ok"] is False

    def test_health(self, client: TestClient) -> None:
        found = client.get("/healthz").json()
        assert (found["status"], found["database"], found["broker"]) == ("degraded", "ok", "none")
