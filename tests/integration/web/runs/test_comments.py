"""Comments on an episode: on its page and by REST."""

from fastapi.testclient import TestClient

from tests.factories.records import World

PAGE = {"Accept": "text/html"}
OWN = {"Origin": "http://127.0.0.1:8000"}


def test_people_comment_on_a_solved_episode(installation: World, fresh: TestClient) -> None:
    installation.submit()
    claim = installation.must_claim(installation.worker())
    installation.score(claim, 1.0)
    page = f"/episodes/{claim.episode_id}"
    rest = f"/api/v1{page}/comments"
    assert fresh.get(rest).json()["items"] == []
    form = {"person": "anna", "text": "  <b>lucky</b> at #step-0\n"}
    answer = fresh.post(f"{page}/comments", data=form, headers=OWN)
    assert answer.headers["location"] == f"{page}?person=anna#comments"
    text = fresh.get(answer.headers["location"], headers=PAGE).text
    assert f'&lt;b&gt;lucky&lt;/b&gt; at <a href="{page}?step=0">#step-0</a>' in text
    written = fresh.post(rest, json={"person": "ben", "text": "agreed"})
    assert written.status_code == 201
    first, second = fresh.get(rest).json()["items"]
    assert (first["person"], first["text"], second) == ("anna", "<b>lucky</b> at #step-0", written.json())
    # People delete their own comments only.
    own = f"{page}/comments/{first['id']}/delete"
    assert f'action="{own}"' in text
    assert f'action="{own}"' not in fresh.get(f"{page}?person=ben", headers=PAGE).text
    assert fresh.delete(f"{rest}/{first['id']}?person=ben").json()["code"] == "comment_not_found"
    assert fresh.post(own, data={"person": "anna"}, headers=OWN).status_code == 303
    assert fresh.delete(f"{rest}/{second['id']}?person=ben").status_code == 204
    assert fresh.get(rest).json()["items"] == []
    for wrong in (" ", "x" * 2001):
        assert fresh.post(f"{page}/comments", data={**form, "text": wrong}, headers=OWN).status_code == 422
