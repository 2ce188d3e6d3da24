"""Pages of judges and their queue, and the same over REST."""

import re
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.db.models import Judge
from tests.factories.records import World
from tests.factories.reviews import Judged, JudgedTask, graph_run

PAGE = {"Accept": "text/html"}
OWN = {"Origin": "http://127.0.0.1:8000", **PAGE}


@pytest.fixture
def judged(installation: World) -> Judged:
    """Four attempts of a judge."""
    said = [JudgedTask(opened=True, final=at < 2, level=f"L{at % 2 + 1}") for at in range(4)]
    return Judged(installation, said)


def form_of(text: str) -> str:
    """The item that a page asks about."""
    found = re.search(r'name="item" value="([^"]+)"', text)
    assert found, text
    return found[1]


def answered(client: TestClient, judge: UUID, name: str, **said: str) -> int:
    """Goes through the queue by its forms; returns how many items there were."""
    number = 0
    while 'name="item"' in (text := client.get(f"/judges/{judge}/review?as={name}", headers=PAGE).text):
        data = {"as": name, "item": form_of(text), **said}
        sent = client.post(f"/judges/{judge}/review", data=data, headers=OWN)
        assert sent.status_code == 303, sent.text
        number += 1
    return number


class TestPages:
    def test_empty_page_says_so(self, fresh: TestClient) -> None:
        assert "no-judges" in fresh.get("/judges", headers=PAGE).text

    def test_from_the_draw_to_kappa(self, fresh: TestClient, judged: Judged) -> None:
        base = f"/judges/{judged.judge}"
        assert 'data-agreement="none"' in fresh.get(base, headers=PAGE).text
        assert fresh.post(f"{base}/sample", data={"size": "50", "seed": "3"}, headers=OWN).status_code == 303
        assert 'id="as"' in fresh.get(f"{base}/review", headers=PAGE).text
        assert answered(fresh, judged.judge, "Ann", **{"c.opened": "yes", "c.final": "yes"}) == 4
        assert answered(fresh, judged.judge, "Ben", **{"c.opened": "yes", "c.final": "no"}) == 4
        text = fresh.get(base, headers=PAGE).text
        assert "16 verdicts on 4 attempts" in text
        assert "kappa 0.33" in text
        assert "<b>4</b> of 4 attempts" in text
        assert "judge-1" in fresh.get("/judges", headers=PAGE).text
        rows = fresh.get(f"{base}/agreement.csv").text.splitlines()
        assert rows[0].startswith("level,pairs,both_yes")
        assert [row.split(",")[:6] for row in rows[1:]] == [
            ["all", "16", "10", "2", "2", "2"],
            ["L1", "8", "5", "1", "1", "1"],
            ["L2", "8", "5", "1", "1", "1"],
        ]
        assert len(fresh.get(f"{base}/answers.csv").text.splitlines()) == 17

    def test_review_page_hides_verdict_and_attempt(self, fresh: TestClient, judged: Judged) -> None:
        judged.draw()
        text = fresh.get(f"/judges/{judged.judge}/review?as=Ann", headers=PAGE).text
        assert "The note says hello." in text
        assert "click 1, 2" in text
        for word in (" noop", "judge-1", "opened: seen", "/episodes/", "/runs/0", "I click", "task-00"):
            assert word not in text, word

    @pytest.mark.parametrize(
        "data",
        [{"c.opened": "yes"}, {"c.opened": "yes", "c.final": "perhaps"}, {"item": "x"}, {"item": str(uuid4())}],
    )
    def test_invalid_review_is_refused(self, fresh: TestClient, judged: Judged, data: dict[str, str]) -> None:
        judged.draw()
        item = form_of(fresh.get(f"/judges/{judged.judge}/review?as=Ann", headers=PAGE).text)
        sent = fresh.post(f"/judges/{judged.judge}/review", data={"as": "Ann", "item": item, **data}, headers=OWN)
        assert sent.status_code in {404, 422}
        assert 'class="note bad"' in sent.text

    def test_a_draw_from_nothing(self, fresh: TestClient, judged: Judged) -> None:
        judged.draw()
        sent = fresh.post(f"/judges/{judged.judge}/sample", data={"size": "5", "seed": "0"}, headers=OWN)
        assert (sent.status_code, "nothing is left to review" in sent.text) == (422, True)

    def test_graphs_are_rated_in_tenths(self, fresh: TestClient, installation: World) -> None:
        graph_run(installation, [{"CR": 0.2}, {"CR": 0.5}, {"CR": 1.0}])
        with installation.work() as session:
            judge = session.scalars(select(Judge.id)).one()
        fresh.post(f"/judges/{judge}/sample", data={"size": "50", "seed": "3"}, headers=OWN)
        for name in ("Ann", "Ben"):
            assert answered(fresh, judge, name, completion="70", logic="100") == 3
        text = fresh.get(f"/judges/{judge}", headers=PAGE).text
        assert "CR against people's completion ratings of 3 attempts: r = –" in text  # All rated alike: there is no r.

    def test_unknown_judge_is_404(self, fresh: TestClient) -> None:
        for address in ("", "/review", "/agreement.csv"):
            assert fresh.get(f"/judges/{uuid4()}{address}", headers=PAGE).status_code == 404


class TestRest:
    def test_draw_judge_and_read(self, fresh: TestClient, judged: Judged) -> None:
        base = f"/api/v1/judges/{judged.judge}"
        assert fresh.post(f"{base}/sample", json={"size": 2, "seed": 1}).json() == {"attempts_sampled": 2}
        for name, final in (("ann", True), ("ben", None)):
            while (task := fresh.get(f"{base}/review", params={"by": name}).json()["task"]) is not None:
                assert [one["name"] for one in task["criteria"]] == ["opened", "final"]
                assert set(task) == {"item", "kind", "instruction", "criteria", "steps"}
                said = {"by": name, "item": task["item"], "verdicts": {"opened": True, "final": final}}
                assert fresh.post(f"{base}/review", json=said).status_code == 204
        found = fresh.get(base).json()
        assert (
            found["attempts_sampled"],
            found["attempts_reviewed"],
            found["attempts_checked"],
            found["attempts_judged"],
        ) == (2, 2, 2, 4)
        assert found["agreement"][0]["both_yes"] + found["agreement"][0]["only_person_yes"] == 6
        assert found["alpha_people"] == {"value": None, "interval": None, "n": 2}
        assert fresh.get("/api/v1/judges").json()["items"] == [found]

    @pytest.mark.parametrize(
        "said",
        [{}, {"verdicts": {}}, {"verdicts": {"opened": True}}, {"completion": 50}, {"completion": 50, "logic": 50}],
    )
    def test_invalid_review_is_refused(self, fresh: TestClient, judged: Judged, said: dict[str, object]) -> None:
        judged.draw(1)
        base = f"/api/v1/judges/{judged.judge}"
        item = fresh.get(f"{base}/review", params={"by": "ann"}).json()["task"]["item"]
        assert fresh.post(f"{base}/review", json={"by": "ann", "item": item, **said}).status_code == 422
