"""Bodies that are not what they seem: refused with a code of their own, and nothing is started."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

RUNS = "/api/v1/runs"
START = b'{"benchmark": "starter", "agent": "noop", '
MALFORMED = {
    b"{": "malformed_json",
    b'{"benchmark": "starter"} {}': "malformed_json",
    b"\xef\xbb\xbf{}": "malformed_json",
    b'{"name": "\xff"}': "body_not_utf8",
    b'{"name": "\\ud800"}': "body_not_utf8",
    b"[" * 100_000: "json_too_deep",
    START + b'"agent": "oracle"}': "duplicate_key",
    START + b'"budget": {"max_steps": 1, "max_steps": 2}}': "duplicate_key",
    START + b'"seed": NaN}': "number_not_finite",
    START + b'"budget": {"max_cost": Infinity}}': "number_not_finite",
    START + b'"seed": 1e999}': "number_not_finite",
    START + b'"seed": ' + b"9" * 5000 + b"}": "number_not_finite",
}
WRONG_TYPES = {
    "repeats": (False, "2", 1.5),
    "budget.max_steps": (True, "10"),
    "accepts_episodes": ("true", 1),
    "name": (7, None),
    "screen.width": ("1280",),
}


def nested(path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    return {first: nested(rest, value) if rest else value}


class TestJson:
    @pytest.mark.parametrize(("body", "code"), MALFORMED.items(), ids=range(len(MALFORMED)))
    def test_malformed_json_is_400(self, fresh: TestClient, body: bytes, code: str) -> None:
        for headers in ({}, {"Idempotency-Key": "k"}):
            answer = fresh.post(RUNS, content=body, headers={"Content-Type": "application/json", **headers})
            assert (answer.status_code, answer.json()["code"]) == (400, code)
            assert answer.json()["type"] == f"/docs/errors.html#{code}"
        assert fresh.get(RUNS).json()["items"] == []

    @pytest.mark.parametrize(("path", "values"), WRONG_TYPES.items())
    def test_values_are_not_converted(self, fresh: TestClient, path: str, values: tuple[Any, ...]) -> None:
        for value in values:
            answer = fresh.post(RUNS, json={"benchmark": "starter", "agent": "noop", **nested(path, value)})
            assert (answer.status_code, answer.json()["path"]) == (422, path), value
        assert fresh.get(RUNS).json()["items"] == []

    def test_other_media_type_is_415(self, fresh: TestClient) -> None:
        for path, media_type in ((RUNS, "text/plain"), (RUNS, ""), ("/api/v1/benchmarks", "application/json")):
            headers = {"Content-Type": media_type} if media_type else {}
            answer = fresh.post(path, content=START + b'"repeats": 1}', headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (415, "media_type_not_supported")

    def test_a_problem_type_of_json_is_json(self, fresh: TestClient) -> None:
        headers = {"Content-Type": "application/vnd.ci+json; charset=utf-8"}
        assert fresh.post(RUNS, content=START + b'"repeats": 1}', headers=headers).status_code == 201
