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
    def test_starts_what_rest_starts(self, fresh: TestClient) -> None:
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
    def test_says_at_the_field_what_is_wrong(self, fresh: TestClient, changes: dict[str, str], field: str) -> None:
        answer = sent(fresh, **{"params": "", **changes})
        assert 400 <= answer.status_code < 500
        assert marked(answer.text) == [field]
        assert fresh.get("/api/v1/studies").json()["items"] == []

    def test_keeps_what_was_typed(self, fresh: TestClient) -> None:
        text = sent(fresh, params="", levels_2="<b>").text
        assert 'value="&lt;b&gt;"' in text
        assert 'value="1, 0.5"' in text

    def test_the_list_leads_to_it(self, fresh: TestClient) -> None:
        assert 'href="/studies/new"' in fresh.get("/studies", headers=PAGE).text
