"""Own tasks over HTTP."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.factories.drafts import make_content
from tests.factories.records import World

API = "/api/v1/drafts"
SCORES = {"oracle": 1.0, "noop": 0.0, "always_fail": 0.0}


@pytest.fixture
def draft(fresh: TestClient) -> dict[str, Any]:
    """A whole draft of Ada's."""
    answer = fresh.post(API, json={"content": make_content().model_dump(mode="json"), "by": "ada"})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def done(answer: Any) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


class TestApi:
    def test_from_the_first_word_to_a_run(self, installation: World, fresh: TestClient, draft: dict[str, Any]) -> None:
        path = f"{API}/{draft['id']}"
        started = done(fresh.post(f"{path}/trials", json={}))
        assert (started["trial"]["complete"], set(started["trial"]["runs"])) == (False, set(SCORES))
        assert fresh.post(f"{path}/submit", json={}).status_code == 409
        worker = installation.worker(slots=1)
        while (claim := installation.claim(worker)) is not None:
            installation.score(claim, SCORES[claim.config.agent])
        assert done(fresh.get(path))["trial"]["sound"] is True
        assert done(fresh.post(f"{path}/submit", json={}))["state"] == "in_review"
        assert fresh.post(f"{path}/approve", json={"version": 1, "by": "ada"}).status_code == 403
        for name in ("bob", "cleo"):
            found = done(fresh.post(f"{path}/approve", json={"version": 1, "by": name, "comment": "Good."}))
        assert (found["state"], found["approvals"], [one["by"] for one in found["reviews"]]) == (
            "approved", 2, ["cleo", "bob"],
        )  # fmt: skip
        assert done(fresh.post(f"{API}/publish", json={})) == {
            "benchmark": "own", "version": 1, "tasks": 1, "drafts": [draft["id"]],
        }  # fmt: skip
        body = {"benchmark": "own", "agent": "oracle"}
        assert done(fresh.post("/api/v1/runs", json=body))["benchmark"] == "own"

    def test_editing_and_versions(self, fresh: TestClient, draft: dict[str, Any]) -> None:
        path = f"{API}/{draft['id']}"
        changed = {**draft["content"], "max_steps": 7}
        assert done(fresh.put(path, json={"content": changed, "by": "ada"}, headers={"If-Match": "*"}))["version"] == 2
        assert done(fresh.get(f"{path}/versions/1"))["content"] == draft["content"]
        assert fresh.get(f"{path}/versions/9").status_code == 404

    def test_a_rejection_needs_its_reason(self, fresh: TestClient, draft: dict[str, Any]) -> None:
        answer = fresh.post(f"{API}/{draft['id']}/reject", json={"version": 1, "by": "bob", "reason": "dull"})
        assert answer.status_code == 422
        assert answer.json()["path"] == "reason"

    def test_problems_are_named(self, fresh: TestClient) -> None:
        answer = fresh.post(API, json={"content": {"domain": "a", "name": "b", "checks": [{"func": 1}]}})
        assert (answer.status_code, answer.json()["path"]) == (422, "checks.0.func")

    def test_files_are_attached_and_validated(self, fresh: TestClient, draft: dict[str, Any]) -> None:
        path = f"{API}/{draft['id']}"
        found = done(fresh.post(f"{path}/files", data={"name": "gold.txt"}, files={"file": ("x", b"milk")}))
        sha256 = found["content"]["assets"]["gold.txt"]
        assert fresh.get(f"/api/v1/artifacts/{sha256}").content == b"milk"
        assert fresh.post(f"{path}/files", data={"name": "../x"}, files={"file": ("x", b"milk")}).status_code == 422

    def test_list_is_filtered_by_text_and_state(self, fresh: TestClient, draft: dict[str, Any]) -> None:
        assert [row["id"] for row in done(fresh.get(API, params={"q": "MILK"}))["items"]] == [draft["id"]]
        assert done(fresh.get(API, params={"state": ["approved", "rejected"]}))["items"] == []

    def test_plugin_forms_are_listed(self, fresh: TestClient) -> None:
        found = done(fresh.get("/api/v1/plugins/getter", params={"name": "vm_file"}))["items"]
        assert list(found[0]["parameters"]["properties"])[:2] == ["path", "dest"]
        assert len(done(fresh.get("/api/v1/plugins/metric"))["items"]) > 100


class TestPages:
    """Requests of a browser without scripts: every form is a plain one."""

    @pytest.fixture
    def page(self, fresh: TestClient) -> str:
        """The address of a draft that was begun on the list page, by Ada."""
        fresh.headers["accept"] = "text/html"
        assert fresh.post("/tasks/drafts/you", data={"name": "Ada L."}).status_code == 303
        answer = fresh.post("/tasks/drafts", data={"domain": "editor", "name": "add_milk"})
        assert answer.status_code == 303
        return str(answer.headers["location"])

    def content(self, fresh: TestClient, page: str) -> dict[str, Any]:
        found: dict[str, Any] = done(fresh.get(f"{API}/{page.rsplit('/', 1)[-1]}"))["content"]
        return found

    def test_list_shows_and_filters_drafts(self, fresh: TestClient, page: str) -> None:
        text = fresh.get("/tasks/drafts").text
        assert page in text
        assert "Ada L." in text
        assert "no instruction yet" in text
        assert page not in fresh.get("/tasks/drafts", params={"state": "approved"}).text

    def test_parts_are_added_filled_and_moved(self, fresh: TestClient, page: str) -> None:
        for name in ("create_file", "launch"):
            assert fresh.post(
                f"{page}/edit/setup", data={"do": "add", "new": name, **self.typed(fresh, page)}
            ).is_redirect
        typed = {
            "setup.0.name": "create_file", "setup.0.p.path": "/home/user/a.txt", "setup.0.p.content": "x",
            "setup.1.name": "launch", "setup.1.p.command": '["mousepad", "/home/user/a.txt"]',
        }  # fmt: skip
        assert fresh.post(f"{page}/edit/setup", data=typed).is_redirect
        assert fresh.post(f"{page}/edit/setup", data={**typed, "do": "up.1"}).is_redirect
        assert [step["type"] for step in self.content(fresh, page)["setup"]] == ["launch", "create_file"]
        assert self.content(fresh, page)["setup"][0]["parameters"] == {"command": ["mousepad", "/home/user/a.txt"]}

    def typed(self, fresh: TestClient, page: str) -> dict[str, str]:
        steps = self.content(fresh, page)["setup"]
        return {f"setup.{number}.name": step["type"] for number, step in enumerate(steps)}

    def test_a_check_with_its_getters(self, fresh: TestClient, page: str) -> None:
        new = {"do": "add", "new": "exact_match", "new_result": "vm_command_line", "new_expected": "rule"}
        assert fresh.post(f"{page}/edit/checks", data=new).is_redirect
        shown = fresh.get(page).text
        assert 'name="check.0.result.p.command"' in shown
        assert 'name="check.0.expected.p.rules"' in shown
        typed = {
            "check.0.options.name": "exact_match", "check.0.result.name": "vm_command_line",
            "check.0.result.p.command": "cat x", "check.0.result.p.shell": "true",
            "check.0.expected.name": "rule", "check.0.expected.p.rules": '{"expected": "y"}', "conj": "or",
        }  # fmt: skip
        assert fresh.post(f"{page}/edit/checks", data=typed).is_redirect
        found = self.content(fresh, page)
        assert found["checks"][0]["result"] == {"type": "vm_command_line", "command": "cat x", "shell": True}
        assert (found["checks"][0]["expected"]["rules"], found["conj"]) == ({"expected": "y"}, "or")

    def test_invalid_value_is_reported_and_input_is_preserved(self, fresh: TestClient, page: str) -> None:
        fresh.post(f"{page}/edit/checks", data={"do": "add", "new": "exact_match", "new_expected": "rule"})
        typed = {
            "check.0.options.name": "exact_match", "check.0.expected.name": "rule",
            "check.0.expected.p.rules": "{broken",
        }  # fmt: skip
        answer = fresh.post(f"{page}/edit/checks", data=typed)
        assert answer.status_code == 422
        assert "check.0.expected.p.rules: expected JSON" in answer.text
        assert "{broken</textarea>" in answer.text

    def test_solution_steps_are_added_and_validated(self, fresh: TestClient, page: str) -> None:
        for verb, value in (("click", '{"role": "text"}'), ("type", "milk")):
            steps = self.content(fresh, page)["oracle"]
            typed = {f"oracle.{n}.verb": next(iter(one)) for n, one in enumerate(steps)}
            typed |= {f"oracle.{n}.value": json.dumps(next(iter(one.values()))) for n, one in enumerate(steps)}
            new = {"do": "add", "new": verb, "new_value": value, **typed}
            assert fresh.post(f"{page}/edit/oracle", data=new).is_redirect
        assert self.content(fresh, page)["oracle"] == [{"click": {"role": "text"}}, {"type": "milk"}]
        answer = fresh.post(f"{page}/edit/oracle", data={"do": "add", "new": "click", "new_value": "milk"})
        assert (answer.status_code, "expected JSON" in answer.text) == (422, True)

    def test_basics_json_and_files(self, fresh: TestClient, page: str) -> None:
        typed = {"domain": "editor", "name": "oat", "instruction": "Line 1\r\nLine 2", "requires": "mousepad, thunar"}
        assert fresh.post(f"{page}/edit/basics", data=typed).is_redirect
        assert self.content(fresh, page)["requires"] == ["mousepad", "thunar"]
        assert self.content(fresh, page)["instruction"] == "Line 1\nLine 2"
        assert fresh.post(f"{page}/edit/json", data={"json": '{"domain": "a", "name": "b"}'}).is_redirect
        assert self.content(fresh, page)["instruction"] == ""
        assert fresh.post(f"{page}/edit/json", data={"json": "["}).status_code == 422
        assert fresh.post(f"{page}/files", files={"file": ("gold.txt", b"milk")}).is_redirect
        assert "asset:gold.txt" in fresh.get(page).text

    def test_hostile_words_are_shown_as_text(self, fresh: TestClient, page: str) -> None:
        typed = {"domain": "editor", "name": "x", "instruction": "<script>alert(1)</script>"}
        assert fresh.post(f"{page}/edit/basics", data=typed).is_redirect
        assert "<script>alert(1)" not in fresh.get(page).text

    def test_missing_steps_are_listed(self, fresh: TestClient, page: str) -> None:
        answer = fresh.post(f"{page}/try")
        assert (answer.status_code, "Missing: a check" in answer.text) == (422, True)
        assert fresh.post("/tasks/drafts", data={"domain": "editor", "name": "add_milk"}).status_code == 409
        assert fresh.post("/tasks/drafts/you", data={"name": "x" * 99 + "\n"}).status_code in {303, 422}
