"""The form for a new run: choices with their state, all problems at once, clones."""

import html
from urllib.parse import parse_qsl
from uuid import uuid4

from fastapi.testclient import TestClient
from sqlalchemy import text as sql

from backend.db.models import Worker
from backend.domain import registry
from backend.domain.registry import PluginKind
from tests.factories.records import World
from tests.integration.web.capacity.test_endpoints import offered, used

PAGE = {"Accept": "text/html"}


def with_model_agent(world: World) -> None:
    """The worker offers the agent `prompt`, too."""
    registry.load()
    agent = registry.lookup(PluginKind.AGENT, "prompt")
    offer = {"about": agent.about, "schema": agent.Params.model_json_schema(), "privileged": False}
    spaces = {"observation": agent.observation, "action_space": agent.action_space}
    with world.work() as session:
        for worker in session.query(Worker):
            able = {"agents": {**worker.capabilities["agents"], "prompt": {**offer, **spaces}}}
            names = {f"{name}s": [*worker.capabilities[f"{name}s"], space] for name, space in spaces.items()}
            worker.capabilities = {**worker.capabilities, **able, **names}


class TestProblems:
    def test_all_problems_are_shown_at_their_fields(self, fresh: TestClient, installation: World) -> None:
        with_model_agent(installation)
        form = {"benchmark": "starter", "agent": "prompt", "p.prompt.temperature": "hot", "repeats": "0", "image": "{"}
        text = html.unescape(fresh.post("/runs/new", data=form).text)
        for slot, words in (
            ("error-prompt-params-temperature", "Enter a number."),
            ("error-repeats", "Must be at least 1"),
            ("error-image", "Enter JSON"),
        ):
            found = text.split(f'id="{slot}"')[1].split("</p>")[0]
            assert words in found
            assert "hidden" not in found.split(">")[0]
        assert "3 fields need a correction" in text
        lacking = html.unescape(fresh.post("/runs/new", data={"benchmark": "starter", "agent": "prompt"}).text)
        assert "Choose a model" in lacking.split('id="error-prompt-params-model"')[1].split("</p>")[0]
        assert all("--param" not in each and "--judge" not in each for each in (text, lacking))


class TestEstimate:
    def test_is_a_part_of_its_own(self, fresh: TestClient) -> None:
        form = "benchmark=starter&agent=noop&repeats=2&max_steps=9&image=%7B%22scale%22%3A0.5%7D"
        assert "too few earlier episodes" in fresh.get(f"/runs/new/estimate?{form}", headers=PAGE).text
        assert "Estimates follow" in fresh.get("/runs/new/estimate", headers=PAGE).text
        assert fresh.get("/runs/new/estimate?benchmark=nothing&agent=noop", headers=PAGE).status_code == 404
        body = {"benchmark": "starter", "agent": "noop"}
        assert fresh.post("/api/v1/runs/estimate", json=body).json()["forecast"]["episodes"] == 3

    def test_empty_field_shows_the_source_of_its_default(self, fresh: TestClient, installation: World) -> None:
        with_model_agent(installation)
        plain = html.unescape(fresh.get("/runs/new?agent=prompt", headers=PAGE).text)
        assert "(agent default)" in plain.split('id="p.prompt.temperature"')[1].split(">")[0]
        assert 'placeholder="1800 (default)"' in plain
        preset = html.unescape(fresh.get("/runs/new?agent=prompt&preset=osworld", headers=PAGE).text)
        assert 'placeholder="1.0 (preset)"' in preset.split('id="p.prompt.temperature"')[1].split(">")[0]
        assert 'placeholder="15 (preset)"' in preset

    def test_space_options_are_fields_and_do_not_change_presets(self, fresh: TestClient) -> None:
        form = "benchmark=starter&agent=noop&image.beside_previous.shown=1"
        page = html.unescape(fresh.get(f"/runs/new?{form}", headers=PAGE).text)
        assert 'placeholder="1.0 (default)"' in page.split('id="image.scale"')[1].split(">")[0]
        typed = {"benchmark": "starter", "agent": "noop", "image.beside_previous.shown": "1"}
        for more, image in (({}, None), ({"image.scale": "0.5"}, 0.5)):
            run = fresh.post("/runs/new", data={**typed, **more}).headers["location"]
            stored = fresh.get(f"/api/v1{run}").json()["config"]["image"]
            assert (stored and stored["scale"]) == image
        cloned = dict(parse_qsl(fresh.get(f"/runs/new?clone={run.rpartition('/')[2]}").headers["location"]))
        assert cloned["image.scale"] == "0.5"
        wrong = html.unescape(fresh.post("/runs/new", data={**typed, "image.scale": "7"}).text)
        assert "ust be at most 1" in wrong.split('id="error-image-scale"')[1].split("</p>")[0]

    def test_form_can_continue_as_a_study(self, fresh: TestClient) -> None:
        form = "benchmark=starter&agent=noop&repeats=2&max_steps=9&tasks=files%2F*&image=%7B%22scale%22%3A0.5%7D"
        page = html.unescape(fresh.get(f"/runs/new?{form}", headers=PAGE).text)
        address = page.split('href="/studies/new?')[1].split('"')[0]
        given = dict(parse_qsl(address))
        assert (given["repeats"], given["max_steps"], given["tasks"]) == ("2", "9", "files/*")
        assert given["more"] == '{"image": {"scale": 0.5}}'
        assert fresh.get(f"/studies/new?{address}", headers=PAGE).status_code == 200


class TestChoices:
    def test_endpoints_are_chosen_with_their_state(self, fresh: TestClient, installation: World) -> None:
        with_model_agent(installation)
        offered(installation, lab={"ok": True, "answers": True}, openai={"ok": False, "reason": "no key"})
        used(installation)
        text = fresh.get("/runs/new?agent=prompt&p.prompt.endpoint=gone", headers=PAGE).text
        assert '<option value="lab">lab (failing)</option>' in text
        assert '<option value="openai">openai (not set up)</option>' in text
        assert '<option value="gone" selected>gone (not set up)</option>' in text
        assert '<option value="m-1">used at lab, failing</option>' in text

    def test_a_run_can_be_cloned(self, fresh: TestClient, installation: World) -> None:
        run = installation.submit(
            "random",
            tasks=["files/*"],
            repeats=3,
            seed=7,
            name="first",
            budget={"max_steps": 9},
            screen={"width": 1280, "height": 800},
        )
        cloned = fresh.get(f"/runs/new?clone={run.id}")
        assert cloned.status_code == 303
        again = dict(parse_qsl(cloned.headers["location"].partition("?")[2]))
        assert fresh.post("/runs/new", data=again).status_code == 303
        newest, first = fresh.get("/api/v1/runs").json()["items"]
        assert newest["id"] != first["id"]
        assert newest["config"] == first["config"]
        assert newest["configuration"]["id"] == first["configuration"]["id"]
        assert fresh.get(f"/runs/new?clone={uuid4()}").status_code == 404

    def test_page_without_a_worker_refreshes_when_one_appears(self, fresh: TestClient, installation: World) -> None:
        with installation.work() as session:
            session.execute(sql("UPDATE worker SET state = 'offline'"))
        page = fresh.get("/runs/new", headers=PAGE).text
        assert 'data-empty="no-worker"' in page
        assert 'data-refresh-stream="/ws/events"' in page
