import io
import json
import zipfile

import pytest
from fastapi.testclient import TestClient

from backend.domain.errors import Invalid, WebFailed
from backend.domain.ports.web import WebReply
from tests.factories.scene import PageScene
from tests.factories.suites import SAMPLES

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
    def test_imports_a_single_domain_with_or_without_a_folder(self, fresh: TestClient, above: str) -> None:
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
    def test_invalid_file_is_reported_and_creates_nothing(self, fresh: TestClient, data: bytes, word: str) -> None:
        status, problem = upload(fresh, data)
        assert status == 422
        assert word in str(problem["detail"])
        assert fresh.get("/api/v1/benchmarks/mine").status_code == 404

    def test_requirements_of_a_task_are_in_the_api_and_on_its_page(self, fresh: TestClient) -> None:
        root = SAMPLES / "prosoftarena"
        files = {str(file.relative_to(root)): file.read_text() for file in root.rglob("*.json")}
        assert upload(fresh, zipped(files), kind="prosoftarena")[0] == 201
        tasks = {task["name"]: task for task in fresh.get("/api/v1/benchmarks/mine/tasks").json()["items"]}
        task = tasks["XL_L3_001"]
        assert set(task["requires"]) == {"excel", "excel 2024", "photoshop", "photoshop 26.7"}
        assert task["licences"] == {"Microsoft Office": 1, "Photoshop": 1}
        page = fresh.get(f"/tasks/{task['id']}").text
        assert "<dd>Microsoft Office, Photoshop</dd>" in page

    def test_unknown_kind_is_refused(self, fresh: TestClient) -> None:
        status, problem = upload(fresh, zipped(folder()), kind="startre")
        assert (status, problem["path"]) == (422, "kind")
        assert "starter" in str(problem["hint"])

    def test_path_traversal_in_the_name_is_refused(self, fresh: TestClient) -> None:
        assert upload(fresh, zipped(folder()), name="../x")[0] == 422


class SingleReplyWeb:
    """A web that answers every address with one reply, and remembers the addresses."""

    def __init__(self, body: bytes = b"", status: int = 200, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self.body, self.status, self.error = body, status, error

    def get(self, url: str, **_: object) -> WebReply:
        self.asked.append(url)
        if self.error is not None:
            raise self.error
        return WebReply(url=url, status=self.status, headers={}, body=self.body, fetched_at=0.0)


class TestImportFromUrl:
    def post(self, client: TestClient, web: SingleReplyWeb, **more: object) -> tuple[int, dict[str, object]]:
        edge = client.app.state.edge  # type: ignore[attr-defined]
        edge.web = web
        body = {"kind": "starter", "url": "https://files.example.org/b.zip", "name": "mine", **more}
        answer = client.post("/api/v1/benchmarks/from-url", json=body)
        return answer.status_code, answer.json()

    def test_a_zip_of_the_web(self, fresh: TestClient) -> None:
        web = SingleReplyWeb(zipped(folder()))
        assert [self.post(fresh, web)[0] for _ in range(2)] == [201, 200]
        assert web.asked[0] == "https://files.example.org/b.zip"

    def test_imports_from_a_repository_page(self, fresh: TestClient) -> None:
        web = SingleReplyWeb(zipped({f"name-main/{name}": text for name, text in folder().items()}))
        page = "https://github.com/owner/name"
        assert self.post(fresh, web, url=page)[0] == 201
        self.post(fresh, web, url=f"{page}/tree/fix/one")
        assert web.asked == [f"{page}/archive/HEAD.zip", f"{page}/archive/fix/one.zip"]

    @pytest.mark.parametrize(
        ("web", "status", "code"),
        [
            (SingleReplyWeb(b"no zip"), 422, "archive_damaged"),
            (SingleReplyWeb(status=404), 422, "download_refused"),
            (SingleReplyWeb(error=WebFailed("no answer", code="web_timeout")), 503, "download_failed"),
            (
                SingleReplyWeb(error=Invalid("127.0.0.1 is private", code="private_address", path="url")),
                422,
                "private_address",
            ),
        ],
    )
    def test_an_unavailable_source_is_reported_and_nothing_is_created(
        self, fresh: TestClient, web: SingleReplyWeb, status: int, code: str
    ) -> None:
        answer_status, problem = self.post(fresh, web)
        assert (answer_status, problem["code"]) == (status, code)
        assert fresh.get("/api/v1/benchmarks/mine").status_code == 404


class TestStrict:
    def test_strict_upstream_creates_a_new_version(self, fresh: TestClient) -> None:
        upload(fresh, zipped(folder()))
        data = {"kind": "starter", "name": "mine", "strict_upstream": "true"}
        made = fresh.post("/api/v1/benchmarks", data=data, files={"file": ("b.zip", zipped(folder()))}).json()
        assert made["created"]
        (task,) = fresh.get("/api/v1/benchmarks/mine/tasks").json()["items"]
        assert fresh.get(f"/api/v1/tasks/{task['id']}").json()["spec"]["evaluator"]["strict_upstream"]


def sample(kind: str) -> bytes:
    """Our sample of a published suite, as a zip."""
    root = SAMPLES / kind
    return zipped({str(file.relative_to(root)): file.read_text() for file in root.rglob("*.json")})


class TestSuites:
    def test_selections_variants_and_reported_results(self, fresh: TestClient) -> None:
        status, made = upload(fresh, sample("waa"), name="waa", kind="waa")
        assert status == 201
        found = fresh.get("/api/v1/benchmarks/waa").json()
        assert made["benchmark"] == found
        assert (found["tasks"], found["infeasible"]) == (5, 2)
        assert found["selections"] == {"test_custom": 1, "test_small": 2}
        assert found["variants"] == {"context=none": 5}
        keys = fresh.get("/api/v1/benchmarks/waa/selections").json()["test_small"]
        assert keys == ["notepad/sample-draft-WOS", "settings/sample-kind-WOS"]
        reported = fresh.get("/api/v1/benchmarks/waa/published-results").json()["items"]
        human = [row for row in reported if row["agent"] == "Human" and row["group_kind"] == "overall"]
        assert {(row["measure"], row["value"]) for row in human} >= {("success_rate", 74.5)}
        assert len(fresh.get("/api/v1/leaderboards/waa").json()["published_results"]) == len(reported)

    def test_a_task_has_its_variants_and_files_of_the_web(self, fresh: TestClient) -> None:
        upload(fresh, sample("waa"), name="waa", kind="waa")
        (task,) = fresh.get("/api/v1/benchmarks/waa/tasks?domain=libreoffice_calc").json()["items"]
        detail = fresh.get(f"/api/v1/tasks/{task['id']}").json()
        assert [url.rpartition("/")[2] for url in detail["assets"]] == ["Table.xlsx", "Table_gold.xlsx"]
        assert detail["variants"]["context=none"]["instruction"] == detail["instruction"]

    def test_unsupported_lines_are_listed(self, fresh: TestClient) -> None:
        bad = {**TASK, "config": [{"type": "lunch", "parameters": {}}]}
        upload(fresh, zipped(folder(bad)))
        found = fresh.get("/api/v1/benchmarks/mine").json()
        assert found["unknown"] == ["notes/say-hello: config.0: set-up step 'lunch'"]
        assert not fresh.get("/api/v1/benchmarks/mine/lint").json()["ok"]

    def test_slips_of_upstream_are_warnings(self, fresh: TestClient) -> None:
        upload(fresh, sample("osworld"), name="osworld", kind="osworld")
        findings = fresh.get("/api/v1/benchmarks/osworld/lint").json()["findings"]
        warnings = [item for item in findings if item["severity"] == "warning"]
        assert any("a slip for 'type'" in item["message"] for item in warnings)
        assert any("related_apps" in item["message"] for item in warnings)


class TestLabels:
    def put(self, client: TestClient, data: bytes) -> tuple[int, dict[str, object]]:
        answer = client.post("/api/v1/benchmarks/starter/labels", files={"file": ("l.csv", data)})
        return answer.status_code, answer.json()

    def test_imported_labels_show_in_tables_and_tasks(self, fresh: TestClient) -> None:
        csv = b"task,human_seconds,human_steps\nfiles/a,200,7\n"
        assert self.put(fresh, csv) == (200, {"rows": 1, "tasks": 1})
        (task,) = fresh.get("/api/v1/benchmarks/starter/tasks?difficulty=hard").json()["items"]
        assert (task["task"], task["difficulty_source"], task["human_seconds"], task["human_steps"]) == (
            "files/a", "human_time", 200, 7,
        )  # fmt: skip

    @pytest.mark.parametrize(("data", "words"), [(b"\xff", "UTF-8"), (b"task\nfiles/q\n", "line 2, task")])
    def test_invalid_label_file_is_refused(self, fresh: TestClient, data: bytes, words: str) -> None:
        status, problem = self.put(fresh, data)
        assert (status, words in str(problem["detail"])) == (422, True)


class TestDiff:
    def test_shows_the_changes_between_two_versions(self, fresh: TestClient) -> None:
        upload(fresh, zipped(folder()))
        upload(fresh, zipped(folder({**TASK, "instruction": "Write bye."})))
        found = fresh.get("/api/v1/benchmark-diff?old=mine@1&new=mine").json()
        assert (found["old"], found["new"], found["changed"], found["unchanged"]) == ("mine@1", "mine@2", 1, 0)
        (task,) = found["tasks"]
        assert task["changes"] == [
            {"path": "instruction", "old": '"Write hello into hello.txt."', "new": '"Write bye."'}
        ]

    def test_unknown_benchmarks_are_404(self, fresh: TestClient) -> None:
        assert fresh.get("/api/v1/benchmark-diff?old=mine@1&new=starter").status_code == 404
        assert fresh.get("/api/v1/benchmark-diff?old=starter@x&new=starter").status_code == 422


class TestBenchmarks:
    def test_list_and_detail_agree(self, client: TestClient) -> None:
        (one,) = client.get("/api/v1/benchmarks").json()["items"]
        assert (one["name"], one["tasks"], one["domains"]["files"], one["difficulties"]["unlabelled"]) == (
            "starter", 26, 5, 1,
        )  # fmt: skip
        assert client.get("/api/v1/benchmarks/starter").json() == one

    def test_a_near_name_is_suggested(self, client: TestClient) -> None:
        answer = client.get("/api/v1/benchmarks/startr")
        assert (answer.status_code, "starter" in answer.json()["hint"]) == (404, True)

    def test_tasks_with_their_labels(self, client: TestClient) -> None:
        found = client.get("/api/v1/benchmarks/starter/tasks?domain=settings&q=large").json()["items"]
        assert [(task["task"], task["difficulty"]) for task in found] == [("settings/large-text", "hard")]
        assert found[0]["quarantined"] == "the dialog differs between versions"
        detail = client.get(f"/api/v1/tasks/{found[0]['id']}").json()
        assert detail["spec"]["instruction"] == detail["instruction"]

    def test_lint_names_task_and_place(self, client: TestClient) -> None:
        report = client.get("/api/v1/benchmarks/starter/lint").json()
        assert report["tasks"] == 26
        assert report["ok"] == (not [item for item in report["findings"] if item["severity"] == "error"])
        assert all(item["message"] for item in report["findings"])

    def test_validation_reports_unsound_tasks(self, client: TestClient) -> None:
        report = client.get("/api/v1/benchmarks/starter/validation").json()
        bad = [task for task in report["tasks"] if task["sound"] is False]
        assert (report["complete"], report["ok"], report["unsound"]) == (True, False, 1)
        assert [(task["task"], task["reason"]) for task in bad] == [
            ("images/crop-logo", "doing nothing scores 1, not 0")
        ]

    def test_validate_starts_three_runs(self, fresh: TestClient) -> None:
        answer = fresh.post("/api/v1/benchmarks/starter/validate")
        report = answer.json()
        assert answer.status_code == 202
        assert sorted(report["runs"]) == ["always_fail", "noop", "oracle"]
        assert not report["complete"]


class TestLeaderboard:
    def test_floors_have_no_rank(self, client: TestClient, scene: PageScene) -> None:
        rows = client.get("/api/v1/leaderboards/starter").json()["rows"]
        assert [(row["agent"], row["rank"], row["reference"]) for row in rows if row["reference"]] == [
            ("human", None, "human"),
            ("noop", None, "floor"),
        ]
        ranked = [row for row in rows if row["rank"]]
        assert {row["agent"] for row in ranked} == {"navi", "pilot"}
        (live,) = [row for row in rows if row["agent"] == "navi-2"]
        assert [reason["code"] for reason in live["reasons"]] == ["partial"]
        assert [row["rank"] for row in ranked] == sorted(row["rank"] for row in ranked)
        best = next(row for row in rows if row["agent"] == "navi")
        assert (best["missing_tasks"], best["runs"]) == (3, [str(scene.finished)])
        assert best["by_domain"]["files"]["episodes"] == 5

    def test_unknown_version_is_404(self, client: TestClient) -> None:
        assert client.get("/api/v1/leaderboards/starter?version=9").status_code == 404


class TestWorkers:
    def test_shows_slots_and_capabilities(self, client: TestClient) -> None:
        (worker,) = client.get("/api/v1/workers").json()["items"]
        assert (worker["name"], worker["node"], len(worker["slots"])) == ("worker-1", "bench-01", 2)
        assert {slot["state"] for slot in worker["slots"]} == {"leased"}
        assert worker["capabilities"]["providers"]["qemu"]["ok"] is False

    def test_health_reports_each_dependency(self, client: TestClient) -> None:
        found = client.get("/healthz").json()
        assert (found["status"], found["database"], found["broker"]) == ("degraded", "ok", "none")
