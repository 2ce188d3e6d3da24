from typing import Any

import pytest
from pydantic import SecretStr

from backend.config import Settings
from backend.web.app import create_app


def security(path: str, **settings: Any) -> list[str]:
    document = create_app(Settings(**settings)).openapi()
    assert set(document["components"]["securitySchemes"]) == {"token", "session", "agent", "metrics"}
    operations = document["paths"][path].values()
    (needed,) = {tuple(name for each in operation["security"] for name in each) for operation in operations}
    return list(needed)


class TestSecurity:
    @pytest.mark.parametrize(
        ("path", "schemes"),
        [
            ("/api/v1/runs", ["token", "session"]),
            ("/api/v1/signals", ["token", "session", "metrics"]),
            ("/api/v1/agent/observation", ["agent"]),
            ("/healthz", []),
        ],
    )
    def test_names_what_each_address_needs(self, path: str, schemes: list[str]) -> None:
        assert security(path, token=SecretStr("secret-of-16-char")) == schemes

    def test_without_a_token_only_agents_need_theirs(self) -> None:
        assert (security("/api/v1/runs"), security("/api/v1/agent")) == ([], ["agent"])
