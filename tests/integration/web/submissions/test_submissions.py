"""Pages and endpoints of works that people judge: blind, safe to look at, counted once."""

import csv
import io
import re
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient

from tests.factories.creative import creative_benchmark, creative_task, picture
from tests.factories.records import World
from tests.factories.submissions import hand_in

NAME = "creative"
PAGE = {"Accept": "text/html"}
NOTE = b"Dear all,\n<script>alert(1)</script>\n"


@pytest.fixture
def judged(installation: World) -> World:
    """Two agents' works and an expert's on one task: a picture, a text, and bytes that are neither."""
    task = creative_task(expert="expert/poster.png")
    installation.benchmark(creative_benchmark(task, assets={"expert/poster.png": picture((10, 250, 10))}), NAME)
    worker = installation.worker(slots=2)
    for agent, data in (("noop", NOTE), ("oracle", b"\x00\x01binary")):
        installation.submit(agent, benchmark=NAME)
        hand_in(installation, installation.must_claim(worker), data)
    return installation


def ids(text: str) -> dict[str, str]:
    return dict(re.findall(r'name="(left|right)" value="([0-9a-f-]{36})"', text))


def choose(client: TestClient, preferred: str, person: str = "") -> int:
    shown = ids(client.get(f"/compare/pairs?benchmark={NAME}&person={person}", headers=PAGE).text)
    form = {**shown, "preferred": preferred, "benchmark": NAME, "person": person}
    return client.post("/compare/pairs", data=form, follow_redirects=False).status_code


class TestPairs:
    def test_pair_page_hides_the_contestants(self, fresh: TestClient, judged: World) -> None:
        for _ in range(3):
            text = fresh.get(f"/compare/pairs?benchmark={NAME}", headers=PAGE).text
            body = text[text.index("<main") : text.index("</main>")]
            assert not re.search(r"noop|oracle|expert|poster\.png", body)
            assert "Make a poster." in body
            assert choose(fresh, "left") == 303
        assert "no-pairs" in fresh.get(f"/compare/pairs?benchmark={NAME}", headers=PAGE).text
        assert judged

    def test_guest_content_is_shown_as_text(self, fresh: TestClient, judged: World) -> None:
        texts = []
        for _ in range(3):
            texts.append(fresh.get(f"/compare/pairs?benchmark={NAME}", headers=PAGE).text)
            form = {**ids(texts[-1]), "preferred": "equal", "benchmark": NAME}
            assert fresh.post("/compare/pairs", data=form, follow_redirects=False).status_code == 303
        assert not any("<script>alert" in text for text in texts)
        assert any("&lt;script&gt;alert" in text for text in texts)
        assert judged

    def test_pictures_are_shown_and_all_else_is_saved(self, fresh: TestClient, judged: World) -> None:
        forms = {}
        for work in works_of(judged):
            answer = fresh.get(f"/compare/submissions/{work}/0")
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "sandbox" in answer.headers["content-security-policy"]
            forms[answer.headers["content-type"]] = answer.headers["content-disposition"]
        saved = 'attachment; filename="submission-1"'
        assert forms == {"image/png": "inline", "application/octet-stream": saved}

    def test_second_choice_is_a_conflict(self, fresh: TestClient, judged: World) -> None:
        shown = ids(fresh.get(f"/compare/pairs?benchmark={NAME}", headers=PAGE).text)
        form = {**shown, "preferred": "left", "benchmark": NAME}
        assert fresh.post("/compare/pairs", data=form, follow_redirects=False).status_code == 303
        assert fresh.post("/compare/pairs", data=form, headers=PAGE).status_code == 409
        assert judged

    def test_page_without_submissions_says_so(self, fresh: TestClient) -> None:
        assert "no-submissions" in fresh.get("/compare/pairs", headers=PAGE).text

    def test_unknown_submissions_are_404(self, fresh: TestClient) -> None:
        assert fresh.get(f"/compare/submissions/{uuid4()}/0", headers=PAGE).status_code == 404
        assert fresh.get("/compare/pairs?benchmark=nothing", headers=PAGE).status_code == 404


def works_of(world: World) -> list[UUID]:
    from sqlalchemy import select

    from backend.db.models import Submission

    with world.work() as session:
        return list(session.scalars(select(Submission.id)))


class TestBoard:
    def test_page_and_csv_agree(self, fresh: TestClient, judged: World) -> None:
        for person in ("Ada", "Grace"):
            for _ in range(3):
                assert choose(fresh, "left", person) == 303
        text = fresh.get(f"/leaderboards/{NAME}/submissions", headers=PAGE).text
        assert "6 blind comparisons by 2 people over 1 task" in text
        rows = list(csv.DictReader(io.StringIO(fresh.get(f"/leaderboards/{NAME}/submissions.csv").text)))
        assert {row["contestant"].partition(" · ")[0] for row in rows} == {"noop", "oracle", "human expert"}
        assert sum(int(row["wins"]) for row in rows) == sum(int(row["losses"]) for row in rows) == 6
        assert judged

    def test_api_accepts_choices_and_returns_the_board(self, fresh: TestClient, judged: World) -> None:
        pair = fresh.get(f"/api/v1/benchmarks/{NAME}/pairs/next").json()
        assert (pair["compared"], pair["remaining"]) == (0, 3)
        assert fresh.get(pair["left"]["files"][0]).status_code == 200
        body = {"left": pair["left"]["id"], "right": pair["right"]["id"], "preferred": "equal", "person": "Ada"}
        assert fresh.post("/api/v1/preferences", json=body).json()["person"] == "Ada"
        assert fresh.post("/api/v1/preferences", json=body).status_code == 409
        board = fresh.get(f"/api/v1/benchmarks/{NAME}/submissions").json()
        assert (board["comparisons"], board["people"], board["left_share"]) == (1, 1, None)
        assert sum(row["ties"] for row in board["contestants"]) == 2
        assert judged

    def test_a_benchmark_without_works(self, fresh: TestClient, installation: World) -> None:
        installation.benchmark()
        assert "no-submissions" in fresh.get("/leaderboards/starter/submissions", headers=PAGE).text

    def test_run_counts_submissions_separately(self, fresh: TestClient, judged: World) -> None:
        run = fresh.get("/api/v1/runs").json()["items"][0]
        assert run["counts"]["handed_in"] == 1
        text = fresh.get(f"/runs/{run['id']}", headers=PAGE).text
        assert "submitted for comparison" in text
        episode = fresh.get(f"/api/v1/runs/{run['id']}/episodes").json()["items"][0]
        assert (episode["outcome"], episode["score"]) == ("handed_in", None)
        assert "/compare/pairs?" in fresh.get(f"/episodes/{episode['id']}", headers=PAGE).text
        assert judged
