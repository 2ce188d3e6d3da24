"""The form of a study: it starts what REST would start, and says at which field something is wrong."""

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

PAGE = {"Accept": "text/html"}
FORM = {
    "benchmark": "starter",
    "agent": "random",
    "provider": "local",
    "name": "scale",
    "seed": "3",
    "tasks": "files/*",
    "params": '{"seed_offset": 1}',
    "factor_0": "image.scale",
    "levels_0": "1, 0.5",
    "factor_2": "perturbation",
    "levels_2": "none, moved",
    "design": "full",
    "key": "k",
}


def sent(client: TestClient, **changes: str) -> Any:
    form = {name: value for name, value in {**FORM, **changes}.items() if value}
    return client.post("/studies/new", data=form, headers=PAGE)


def marked(text: str) -> list[str]:
    """Fields that are marked as wrong."""
    return re.findall(r'aria-describedby="error-(\w+)"', text)


class TestForm:
    def test_form_starts_the_same_study_as_the_api(self, fresh: TestClient) -> None:
        assert fresh.get("/studies/new", headers=PAGE).status_code == 200
        answer = sent(fresh, params="")
        assert answer.status_code == 303
        (study,) = fresh.get("/api/v1/studies").json()["items"]
        assert answer.headers["location"] == study["url"]
        assert study["factors"] == [
            {"name": "image.scale", "levels": [1, 0.5]},
            {"name": "perturbation", "levels": [None, "moved"]},
        ]
        assert (study["name"], study["design"], study["cells"]) == ("scale", "full", 4)
        assert (study["base"]["seed"], study["base"]["tasks"]) == (3, ["files/*"])
        results = fresh.get(study["url"], headers=PAGE).text
        assert results.count("/compare?run=") == 1
        # A double click is one study.
        assert sent(fresh, params="").headers["location"] == study["url"]
        assert len(fresh.get("/api/v1/studies").json()["items"]) == 1

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"params": "{"}, "params"),
            ({"params": '{"nonsense": 1}'}, "params"),
            ({"agent": "nobody", "params": ""}, "agent"),
            ({"benchmark": ""}, "benchmark"),
            ({"levels_2": "none, sideways"}, "factor_2"),
            ({"levels_2": "moved"}, "factor_2"),
            ({"levels_2": "[1,"}, "factor_2"),
            ({"factor_2": "seed", "levels_2": "1,2"}, "factor_2"),
            ({"factor_2": "image.scale"}, "factor_0"),
            ({"factor_0": "", "levels_0": "", "factor_2": "", "levels_2": ""}, "factor_0"),
            ({"repeats": "many"}, "repeats"),
            ({"repeats": "0"}, "repeats"),
            ({"max_steps": "0"}, "max_steps"),
            ({"sample": "200"}, "sample"),
            ({"tasks": "nowhere/*"}, "tasks"),
            ({"more": '{"image": {"scale": 7}}', "factor_0": "", "levels_0": ""}, "more"),
            ({"more": "[]"}, "more"),
        ],
    )
    def test_problems_are_shown_at_their_field(self, fresh: TestClient, changes: dict[str, str], field: str) -> None:
        answer = sent(fresh, **{"params": "", **changes})
        assert 400 <= answer.status_code < 500
        assert marked(answer.text) == [field]
        assert fresh.get("/api/v1/studies").json()["items"] == []

    def test_a_matrix_of_conditions_and_task_sets(self, fresh: TestClient) -> None:
        answer = sent(fresh, params="", task_sets="files/*\n* @none", tasks="")
        assert marked(answer.text) == ["task_sets"]
        answer = sent(fresh, params="", task_sets="files/*\n*", tasks="", factor_2="", levels_2="")
        assert answer.status_code == 303
        (study,) = fresh.get("/api/v1/studies").json()["items"]
        # Two and three tasks, at two scales.
        assert (study["cells"], study["episodes"]) == (4, 2 * (2 + 3))
        results = fresh.get(f"/api/v1{study['url']}/results").json()
        assert [each["factor"] for each in results["comparisons"]] == ["image.scale"]
        page = fresh.get(study["url"], headers=PAGE).text
        matrix = page[page.index('id="task-sets"') : page.index('id="cells"')]
        assert re.findall(r"data-list-link>([^<]+)</a></th>", matrix) == ["Condition", "files/*", "*"]
        assert matrix.count('href="/runs/') == 4

    def test_all_problems_are_shown_together(self, fresh: TestClient) -> None:
        text = sent(fresh, params="{", repeats="many", max_steps="0", levels_2="[1,", benchmark="").text
        assert set(marked(text)) == {"params", "repeats", "max_steps", "factor_2", "benchmark"}
        assert "The study was not started." in text

    def test_form_sent_twice_says_so(self, fresh: TestClient) -> None:
        assert sent(fresh, params="").status_code == 303
        again = sent(fresh, params="", name="another")
        assert again.status_code == 409
        assert "This form has started something already." in again.text
        assert 'name="key" value="k"' not in again.text

    def test_input_is_preserved_after_an_error(self, fresh: TestClient) -> None:
        text = sent(fresh, params="", levels_2="<b>").text
        assert 'value="&lt;b&gt;"' in text
        assert 'value="1, 0.5"' in text

    def test_the_list_leads_to_it(self, fresh: TestClient) -> None:
        assert 'href="/studies/new"' in fresh.get("/studies", headers=PAGE).text
