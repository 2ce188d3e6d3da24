"""Parameters shared by all agents that ask a language model."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, field_validator

from backend.domain.model.parameters import Parameters

_SECRETS = ("key", "authorization", "token", "secret", "password")
_NO_SECRETS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})


class ModelParams(Parameters):
    """Which model to ask, where, and how. A run's preset fills in parameters that the run leaves open.

    Attributes:
        models: names of its parameters with a model that it needs, each with that of its endpoint.
    """

    models: ClassVar[Mapping[str, str]] = {"model": "endpoint"}

    model: str = Field(default="", max_length=200, description="Model name at its API. Required.")
    endpoint: str = Field(default="openai", max_length=100, description="Endpoint that serves it (docs/models.md).")
    temperature: float | None = Field(
        default=1.0, ge=0, le=2, description="Sampling temperature; null: the API's default."
    )
    top_p: float | None = Field(
        default=None, gt=0, le=1, description="Nucleus sampling (top-p); null: the API's default."
    )
    max_tokens: int | None = Field(default=1500, ge=16, le=200_000, description="Longest answer, in tokens.")
    send_seed: bool = Field(default=False, description="Sends the episode's seed, to APIs that accept one.")
    max_input_tokens: int | None = Field(
        default=None,
        ge=1000,
        description=(
            "Longest input, in estimated tokens; the oldest content is dropped first. Null: the API's own limit."
        ),
    )
    extra: dict[str, Any] = Field(
        default_factory=dict, description="Additional request fields of the API, as JSON, such as reasoning effort."
    )

    @field_validator("extra", "grounder_extra", check_fields=False)
    @classmethod
    def no_secrets(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Rejects secrets: parameters are shown on pages."""
        for name in value:
            plain = name.lower().replace("-", "_")
            if plain not in _NO_SECRETS and any(word in plain.split("_") or plain.endswith(word) for word in _SECRETS):
                raise ValueError(f"{name!r} looks like a secret; keys belong to the endpoint (docs/models.md)")
        return value
