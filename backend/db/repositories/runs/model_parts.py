"""Calls of the models of agents that ask several, summed over a run."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Double, cast, column, func, literal, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Step
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.model_calls import CallFailure


def model_parts(session: Session, run_id: UUID) -> Sequence[AnyRow]:
    """By part, endpoint and model: calls, median_seconds, input_tokens, output_tokens, usd, unpriced, each failure."""
    calls = func.jsonb_array_elements(Step.extras["model_calls"]).table_valued(column("value", JSONB))
    call: ColumnElement[Any] = calls.c.value

    def total(name: str) -> ColumnElement[float]:
        return func.coalesce(func.sum(cast(call["usage"][name].astext, Double)), 0.0).label(name)

    keys = [call[name].astext.label(name) for name in ("part", "endpoint", "model")]
    seconds = cast(call["seconds"].astext, Double)
    failed = [func.count().filter(call["failure"].astext == failure).label(failure) for failure in CallFailure]
    query = (
        select(
            *keys,
            func.count().label("calls"),
            func.percentile_cont(0.5).within_group(seconds).label("median_seconds"),
            *map(total, ("input_tokens", "output_tokens", "usd")),
            func.count().filter(call["usage"]["priced"].astext == "false").label("unpriced"),
            *failed,
        )
        .select_from(Step)
        .join(calls, literal(True))
        .join(Attempt, Attempt.id == Step.attempt_id)
        .join(Episode, Episode.id == Attempt.episode_id)
        .where(Episode.run_id == run_id, Step.extras.has_key("model_calls"))
        .group_by(*keys)
        .order_by(*keys)
    )
    return session.execute(query).all()
