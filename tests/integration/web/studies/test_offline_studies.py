"""Offline studies: from a set of demonstrations over a worker's thread to the results that pages and the API show."""

import errno
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, select, update

from backend.db.models import Artifact, OfflineAnswer, Worker
from backend.domain import registry
from backend.domain.errors import ModelApiFailed
from backend.domain.model.episode import EndedBy
from backend.domain.model.trajectory import Action, ActionType, Decision, Frame, Observation, StepRecord
from backend.domain.ports.model import Models
from backend.services.artifacts.artifacts import ArtifactRef, collect_garbage
from backend.services.attempts import attempts
from backend.services.attempts.attempts import StepRow
from backend.services.studies import offline_answers
from tests.factories import demonstrations as factory
from tests.factories.records import World, capabilities
from tests.fakes.models import FakeModels
from worker.background.offline_evaluator import OfflineEvaluator
from worker.base.database import Database

API = "/api/v1"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
PAGE = {"Accept": "text/html"}
Ask = Callable[[Models], int]


def abilities() -> dict[str, Any]:
    """A worker with agents that ask models, and an endpoint."""
    registry.load()
    able = capabilities()
    offer = {"about": "", "schema": {}, "privileged": False}
    able["agents"]["prompt"] = {**offer, "observation": "screenshot", "action_space": "pyautogui"}
    able["agents"]["gui_model"] = {**offer, "observation": "screenshot", "action_space": "gui_model"}
    able["agents"]["remote"] = {**offer, "observation": "screenshot", "action_space": "computer_13"}
    able["observations"] += ["set_of_marks", "screenshot_a11y_tree"]
    able["action_spaces"] += ["pyautogui", "gui_model"]
    able["models"] = {"openai": {"api": "openai_chat", "ok": True, "reason": "", "prices": []}}
    return able


@pytest.fixture
def installed(installation: World) -> World:
    installation.worker("able", capabilities=abilities())
    return installation


@pytest.fixture
def ask(installed: World) -> Ask:
    """Asks at every step that waits, in this thread; returns how many were taken."""

    def work(models: Models) -> int:
        worker = OfflineEvaluator(Database(installed.factory), installed.store, lambda _: models, every=0.1)
        number = 0
        while worker.process_next():
            number += 1
        return number

    return work


def imported(client: TestClient, folder: Path, form: str = "deskarena", name: str = "buttons") -> Any:
    files = {"file": ("set.zip", factory.zipped(folder), "application/zip")}
    return client.post(f"{API}/demonstrations", data={"name": name, "form": form, "source": "ours"}, files=files)


def submitted(client: TestClient, **more: Any) -> Any:
    base = {"agent": "prompt", "params": {"model": "m", "endpoint": "openai"}, "seed": 1}
    body = {"demonstrations": "buttons", "base": base, **more}
    answer = client.post(f"{API}/offline-studies", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def click(x: int, y: int = 110) -> str:
    return f"I press it.\n```python\npyautogui.click({x}, {y})\n```"


def results(client: TestClient, study: Any, **query: str) -> Any:
    return client.get(f"{API}/offline-studies/{study['id']}/results", params=query).json()


def metrics(cell: Any) -> dict[str, Any]:
    return {metric["name"]: metric["value"] for metric in cell["metrics"]}


class TestBudget:
    def test_no_calls_above_the_budget(self, fresh: TestClient, ask: Ask, tmp_path: Path) -> None:
        imported(fresh, factory.own(tmp_path))
        first = submitted(fresh)
        assert ask(FakeModels(always=click(120))) == 4
        changed = fresh.patch(f"{API}/budgets/month", json={"tokens": 1}).json()
        assert changed["spent_tokens"] == results(fresh, first)["cells"][0]["input_tokens"] + 40
        study = submitted(fresh, name="later")
        assert ask(FakeModels(always=click(120))) == 0
        shown = fresh.get(f"{API}/offline-studies/{study['id']}").json()
        assert (shown["states"], shown["budget_reached"]) == ({"waiting": 4}, changed["reached"])
        assert changed["reached"] in fresh.get(f"/studies/offline/{study['id']}", headers=PAGE).text
        fresh.patch(f"{API}/budgets/month", json={"tokens": None})
        assert ask(FakeModels(always=click(120))) == 4


class TestStory:
    def test_from_a_zip_to_the_results(self, installed: World, fresh: TestClient, ask: Ask, tmp_path: Path) -> None:
        made = imported(fresh, factory.own(tmp_path)).json()
        assert (made["demonstrations"], made["steps"], made["form"]) == (2, 4, "deskarena")
        assert imported(fresh, tmp_path).json()["id"] == made["id"]
        other = factory.own(tmp_path / "other", "three")
        assert imported(fresh, other).json()["code"] == "name_already_used"

        study = submitted(fresh, factors={"params.history": [3, 0]}, name="history")
        assert (study["cells"], study["answers"], study["ended"]) == (2, 8, 0)
        # Right: 120 at the first step of a demonstration, 220 at the second.
        models = FakeModels(*map(click, (120, 220, 120, 700)), always=click(120))
        assert ask(models) == 8
        found = results(fresh, study)
        first, second = found["cells"]
        assert metrics(first) == {
            "type_match": 1.0,
            "grounding_accuracy": 0.75,
            "step_success": 0.75,
            "task_success": 0.5,
        }
        # 100 of 800 pixels beside the button are within 14 % of the screen, but on no element.
        assert metrics(second)["step_success"] == 1.0
        assert metrics(results(fresh, study, protocol="mind2web")["cells"][1])["element_accuracy"] == 0.5
        assert second["against_base"]["difference"] == pytest.approx(0.25)
        assert (first["answered"], first["failed"], first["input_tokens"]) == (4, 0, 400)
        assert [group["group"] for group in found["by_action"]] == ["click", "click"]
        assert (found["label"], found["by_label"][0]["group"]) == ("app", "buttons")
        self.sees_pages(fresh, study)

        # The history is the recorded one, written as the agent writes, whatever it answered itself.
        with_history, without = models.asked[3], models.asked[7]
        texts = [part.text for message in with_history.messages for part in message.parts if part.text]
        assert "press number 0\n```python\npyautogui.click(120, 110)\n```" in texts
        assert len(without.messages) == 2
        assert installed.do(lambda session: session.scalar(select(OfflineAnswer.tries).limit(1))) == 0

    @staticmethod
    def sees_pages(client: TestClient, study: Any) -> None:
        page = client.get(study["url"], headers=PAGE)
        assert page.status_code == 200, page.text
        assert "75.0" in page.text
        assert client.get("/studies", headers=PAGE).text.count(study["url"]) == 1
        right = client.get(f"{study['url']}?show=all&cell=0", headers=PAGE).text
        links = [part.split('"')[0] for part in right.split('href="') if "/answers/" in part.split('"')[0]]
        assert len(links) == 4
        answer = client.get(links[3].replace("&amp;", "&"), headers=PAGE)
        assert answer.status_code == 200
        picture = answer.text.split('<image href="')[1].split('"')[0]
        assert client.get(picture).status_code == 200
        for table, rows in (("metrics", 2 * 3 * 4 + 1), ("answers", 9)):
            lines = client.get(f"{study['url']}/{table}.csv").text.splitlines()
            assert len(lines) == rows, lines
        assert client.get("/demonstrations", headers=PAGE).text.count("buttons") >= 2

    def test_endpoint_failure_is_not_a_wrong_answer(
        self, installed: World, fresh: TestClient, ask: Ask, tmp_path: Path
    ) -> None:
        imported(fresh, factory.own(tmp_path, "one"))
        study = submitted(fresh)
        # The first step is asked later again, the second is answered.
        assert ask(FakeModels(ModelApiFailed("the API is gone"), click(220))) == 2
        found = results(fresh, study)
        (cell,) = found["cells"]
        assert (cell["answered"], cell["failed"], cell["waiting"]) == (1, 0, 1)
        assert metrics(cell)["step_success"] == 1.0
        assert metrics(cell)["task_success"] is None
        for _ in range(offline_answers.TRIES - 1):
            installed.do(lambda session: session.execute(update(OfflineAnswer).values(available_at=LONG_AGO)))
            assert ask(FakeModels(ModelApiFailed("still gone"))) == 1
        (cell,) = results(fresh, study)["cells"]
        assert (cell["answered"], cell["failed"], cell["waiting"]) == (1, 1, 0)
        assert metrics(cell)["step_success"] == 1.0
        unanswered = fresh.get(f"{study['url']}?show=unanswered", headers=PAGE).text
        assert "still gone" in unanswered
        assert fresh.post(f"{API}/offline-studies/{study['id']}/retry").json() == {"answers": 1}
        assert ask(FakeModels(click(700))) == 1
        (cell,) = results(fresh, study)["cells"]
        assert (metrics(cell)["step_success"], metrics(cell)["task_success"]) == (0.5, 0.0)

    def test_unreadable_picture_is_not_a_wrong_answer(
        self, installed: World, fresh: TestClient, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(_: str) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

        imported(fresh, factory.own(tmp_path, "one"))
        study = submitted(fresh)
        with monkeypatch.context() as patch:
            patch.setattr(installed.store, "get", broken)
            assert ask(FakeModels(always=click(120))) == 2
        (cell,) = results(fresh, study)["cells"]
        assert (cell["answered"], cell["invalid"], cell["waiting"]) == (0, 0, 2)

    def test_wrong_actions_are_scored_wrong(self, fresh: TestClient, ask: Ask, tmp_path: Path) -> None:
        imported(fresh, factory.own(tmp_path, "one"))
        study = submitted(fresh)
        assert ask(FakeModels("no code at all", click(220))) == 2
        (cell,) = results(fresh, study)["cells"]
        assert (cell["answered"], cell["invalid"], metrics(cell)["step_success"]) == (2, 1, 0.5)

    def test_cancelled_study_makes_no_calls(self, fresh: TestClient, ask: Ask, tmp_path: Path) -> None:
        imported(fresh, factory.own(tmp_path))
        study = submitted(fresh)
        assert fresh.post(f"{study['url']}/cancel").status_code == 303
        assert ask(FakeModels()) == 0
        shown = fresh.get(f"{API}/offline-studies/{study['id']}").json()
        assert (shown["states"], shown["ended"]) == ({"cancelled": 4}, 4)


class TestForms:
    @pytest.mark.parametrize(
        ("form", "make", "reply", "figures"),
        [
            (
                "mind2web",
                factory.mind2web,
                "```python\npyautogui.click(200, 65)\npyautogui.write('red shoes')\n```",
                # Of two steps the first is right. The second, SELECT 42, is answered by SELECT red shoes: one word of
                # three is right, and one of two is there.
                {"element_accuracy": 0.5, "operation_f1": (1 + 0.4) / 2, "step_success": 0.5, "task_success": 0.0},
            ),
            (
                "android_control",
                factory.android_control,
                click(100),
                # One of seven steps is a click; two have a place.
                {"type_match": 1 / 7, "grounding_accuracy": 0.5, "step_success": 1 / 7, "task_success": 0.0},
            ),
            (
                "omniact",
                factory.omniact,
                "```python\npyautogui.click(120, 60)\npyautogui.write('jazz')\npyautogui.press('enter')\n```",
                {"sequence_score": 1.0, "action_score": 1.0},
            ),
        ],
    )
    def test_published_forms_have_their_own_metrics(  # noqa: PLR0913, PLR0917 - fixtures and the case
        self,
        fresh: TestClient,
        ask: Ask,
        tmp_path: Path,
        form: str,
        make: Callable[[Path], Path],
        reply: str,
        figures: dict[str, float],
    ) -> None:
        assert imported(fresh, make(tmp_path), form).status_code == 201
        study = submitted(fresh)
        ask(FakeModels(always=reply))
        found = results(fresh, study)
        assert found["protocol"] == form
        assert metrics(found["cells"][0]) == pytest.approx(figures)

    def test_elements_of_a_set_are_numbered_for_agents(self, fresh: TestClient, ask: Ask, tmp_path: Path) -> None:
        imported(fresh, factory.mind2web(tmp_path), "mind2web")
        base = {"agent": "prompt", "params": {"model": "m", "endpoint": "openai"}, "observation": "set_of_marks"}
        # The picture is of one colour, in which elements are not numbered otherwise.
        study = submitted(fresh, base={**base, "observation_params": {"plain": True}})
        ask(FakeModels(always="```python\npyautogui.click(tag_1)\npyautogui.write('red shoes')\n```"))
        values = metrics(results(fresh, study)["cells"][0])
        assert (values["element_accuracy"], values["step_success"]) == (1.0, 0.5)

    def test_missing_tree_is_not_a_wrong_answer(self, fresh: TestClient, ask: Ask, tmp_path: Path) -> None:
        imported(fresh, factory.omniact(tmp_path), "omniact")
        bare = factory.own_demonstration("bare", 1)
        bare["steps"][0]["elements"] = []
        factory.put(tmp_path / "bare", "a.jsonl", json.dumps(bare))
        factory.put(tmp_path / "bare", "screen.png", factory.picture())
        imported(fresh, tmp_path / "bare", name="bare")
        base = {"agent": "prompt", "params": {"model": "m", "endpoint": "openai"}, "observation": "a11y_tree"}
        study = submitted(fresh, base=base, demonstrations="bare")
        assert ask(FakeModels()) == 1
        (cell,) = results(fresh, study)["cells"]
        assert (cell["failed"], cell["answered"]) == (1, 0)


class TestOwnTrajectories:
    def test_a_run_s_solved_episodes_become_a_set(self, installed: World, fresh: TestClient, ask: Ask) -> None:
        run = installed.submit("noop", tasks=("files/*",), repeats=1)
        worker = installed.worker("able", capabilities=abilities())
        claim = installed.must_claim(worker)
        installed.begin(claim)
        for index, x in enumerate((120, 400)):
            installed.do(attempts.record_step, claim.fence, recorded(installed, index, x))
        installed.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {})
        installed.score_only(claim)
        body = {"name": "solved", "run": str(run.id)}
        made = fresh.post(f"{API}/demonstrations/from-run", json=body)
        assert made.status_code == 201, made.text
        assert (made.json()["demonstrations"], made.json()["steps"], made.json()["form"]) == (1, 2, "run")
        study = submitted(fresh, demonstrations="solved")
        assert ask(FakeModels(click(120), click(10))) == 2
        assert metrics(results(fresh, study)["cells"][0])["step_success"] == 0.5
        page = fresh.get(study["url"], headers=PAGE).text
        assert f"/episodes/{claim.episode_id}?attempt=1" in page.replace("&amp;", "&")
        unknown = fresh.post(f"{API}/demonstrations/from-run", json={**body, "name": "no", "run": str(UUID(int=1))})
        assert unknown.json()["code"] == "run_not_found"

    def test_pictures_of_sets_are_not_collected(self, installed: World, fresh: TestClient, tmp_path: Path) -> None:
        imported(fresh, factory.own(tmp_path))
        installed.do(lambda session: session.execute(update(Artifact).values(last_stored_at=LONG_AGO)))
        before = installed.do(lambda session: session.query(Artifact).count())
        installed.do(collect_garbage, installed.store, timedelta(0))
        assert installed.do(lambda session: session.query(Artifact).count()) == before > 0


def recorded(world: World, index: int, x: int) -> StepRow:
    """A step with a click on a screen of 800x600."""
    data = factory.picture()
    ref = ArtifactRef(world.store.put(data, "image/png"), len(data), "image/png")
    frame = Frame(data=data, media_type="image/png", width=800, height=600)
    record = StepRecord(
        index=index,
        observation=Observation(index=index, frame=frame),
        decision=Decision(actions=(Action(type=ActionType.CLICK, x=x, y=110),), explanation="so", reply="click it"),
        results=({},),
    )
    return StepRow(record=record, frame=ref)


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "code", "path"),
        [
            ({"demonstrations": "none"}, "demonstrations_not_found", ""),
            ({"base": {"agent": "remote"}}, "agent_not_offline", "agent"),
            ({"base": {"agent": "oracle"}}, "agent_not_offline", "agent"),
            ({"base": {"agent": "random", "provider": "qemu"}}, "invalid_study", "base.provider"),
            ({"base": {"agent": "random"}, "factors": {"perturbation": [None, "moved"]}}, "invalid_study", ""),
            ({"base": {"agent": "prompt", "params": {"model": "m", "endpoint": "gone"}}}, "endpoint_not_usable", ""),
            ({"base": {"agent": "prompt", "params": {"nonsense": 1}}}, "", ""),
        ],
    )
    def test_impossible_study_is_refused(  # noqa: PLR0913, PLR0917 - fixtures and the case
        self, installed: World, fresh: TestClient, tmp_path: Path, changes: dict[str, Any], code: str, path: str
    ) -> None:
        imported(fresh, factory.own(tmp_path))
        body = {"demonstrations": "buttons", "base": {"agent": "random"}, **changes}
        answer = fresh.post(f"{API}/offline-studies", json=body)
        assert answer.status_code in {404, 422}, answer.text
        assert answer.json()["code"] == code or not code
        assert answer.json()["path"] == path or not path
        assert installed.do(lambda session: session.query(OfflineAnswer).count()) == 0

    def test_before_a_worker_has_registered_it_waits(
        self, installation: World, fresh: TestClient, tmp_path: Path
    ) -> None:
        installation.do(lambda session: session.execute(delete(Worker)))
        imported(fresh, factory.own(tmp_path))
        assert "No worker has registered yet" in submitted(fresh)["notice"]

    def test_a_broken_zip_imports_nothing(self, fresh: TestClient, tmp_path: Path) -> None:
        folder = factory.own(tmp_path)
        (folder / "screen.png").write_bytes(b"no picture")
        answer = imported(fresh, folder)
        assert (answer.status_code, answer.json()["code"]) == (422, "demonstrations_invalid")
        assert fresh.get(f"{API}/demonstrations").json()["items"] == []

    def test_a_floor_needs_no_model(self, fresh: TestClient, ask: Ask, tmp_path: Path) -> None:
        imported(fresh, factory.own(tmp_path))
        study = submitted(fresh, base={"agent": "noop", "seed": 3}, sample=0.5)
        assert ask(FakeModels()) == 2
        assert metrics(results(fresh, study)["cells"][0])["step_success"] == 0.0


class TestForm:
    def test_form_starts_the_same_study_as_the_api(self, installed: World, fresh: TestClient, tmp_path: Path) -> None:
        assert "data-empty" in fresh.get("/studies/offline/new", headers=PAGE).text
        files = {"file": ("set.zip", factory.zipped(factory.own(tmp_path)), "application/zip")}
        data = {"name": "buttons", "form": "deskarena"}
        assert fresh.post("/demonstrations", data=data, files=files).status_code == 303
        assert fresh.post("/demonstrations", data={**data, "name": "a b"}, files=files).status_code == 422
        form = {"demonstrations": "buttons", "agent": "prompt", "design": "full", "key": "k"}
        form |= {"params": '{"model": "m", "endpoint": "openai"}', "factor_0": "params.history", "levels_0": "3, 0"}
        assert fresh.get("/studies/offline/new", headers=PAGE).status_code == 200
        wrong = fresh.post("/studies/offline/new", data={**form, "levels_0": "x, y"}, headers=PAGE)
        assert (wrong.status_code, 'aria-describedby="error-params"' in wrong.text) == (422, True)
        answer = fresh.post("/studies/offline/new", data=form, headers=PAGE)
        assert answer.status_code == 303
        assert (
            fresh.post("/studies/offline/new", data=form, headers=PAGE).headers["location"]
            == answer.headers["location"]
        )
        (study,) = fresh.get(f"{API}/offline-studies").json()["items"]
        assert (study["url"], study["cells"]) == (answer.headers["location"], 2)
        assert installed.do(lambda session: session.query(OfflineAnswer).count()) == 8
