"""Variants: the same tasks under other conditions, chosen for a whole run as `axis=value`."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Task
from backend.db.repositories.benchmarks import benchmark_parts as repository
from backend.domain.errors import Invalid, NotFound
from backend.domain.model import task as domain


def task_of(session: Session, row: Task, config: Mapping[str, Any]) -> domain.Task:
    """The task as a run with this configuration uses it: the run's variant, or the task itself.

    Raises:
        NotFound: The task has no such variant.
    """
    variant = config.get("variant")
    if not variant:
        return domain.Task.model_validate(row.spec)
    axis, _, value = str(variant).partition("=")
    spec = repository.variant_spec(session, row.id, axis, value)
    if spec is None:
        raise NotFound(f"{row.key} has no variant {variant}", code="variant_not_found")
    return domain.Task.model_validate(spec)


def known_variants(session: Session, task_set_id: UUID) -> dict[str, int]:
    """All variants of a task set, as `axis=value`, with the number of tasks."""
    return {f"{axis}={value}": number for axis, value, number in repository.variant_counts(session, task_set_id)}


def without_variant(session: Session, task_set_id: UUID, variant: str | None, selected: Sequence[Task]) -> set[UUID]:
    """Ids of the chosen tasks that lack this variant.

    Raises:
        Invalid: No chosen task has it.
    """
    if not variant:
        return set()
    axis, _, value = variant.partition("=")
    able = repository.with_variant(session, task_set_id, axis, value)
    lacking = {task.id for task in selected} - able
    if len(lacking) == len(selected):
        raise unknown_variant(session, task_set_id, variant)
    return lacking


def unknown_variant(session: Session, task_set_id: UUID, variant: str) -> Invalid:
    """The error that no selected task has this variant."""
    names = ", ".join(known_variants(session, task_set_id)) or "none"
    return Invalid(
        f"no selected task has the variant {variant}", code="unknown_variant", path="variant", hint=f"Known: {names}."
    )
