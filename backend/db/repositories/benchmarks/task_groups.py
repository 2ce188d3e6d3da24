"""Counts of equal tasks, so that counting 25,000 tasks does not read each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Select, Text, Uuid, and_, any_, func, literal, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from backend.db.models import Quarantine, Task, TaskVariant
from backend.db.repositories.benchmarks import labels
from backend.db.repositories.common_queries import AnyRow, contains_words

task_key = Task.domain + "/" + Task.name
_LIKE = str.maketrans({"*": "%", "?": "_", "%": r"\%", "_": r"\_", "\\": r"\\"})


class TaskNeeds(Protocol):
    """Facts that decide whether a task, or each of several similar tasks, can run."""

    @property
    def os(self) -> str: ...

    @property
    def requires(self) -> Sequence[str]: ...

    @property
    def licences(self) -> Mapping[str, int]: ...

    @property
    def requires_judge(self) -> bool: ...

    @property
    def has_user_functions(self) -> bool: ...


@dataclass(frozen=True)
class TaskGroup:
    """Tasks of one domain and difficulty that are equal in everything that decides whether they can run.

    Attributes:
        quarantined: why they are in quarantine; None = they are not.
        has_variant: they have the requested variant; true if none is requested.
        number: of these tasks.
    """

    domain: str
    difficulty: str | None
    os: str
    requires: Sequence[str]
    licences: Mapping[str, int]
    requires_judge: bool
    has_user_functions: bool
    quarantined: str | None
    has_variant: bool
    number: int


_Column = InstrumentedAttribute[Any] | ColumnElement[Any]
_FIELDS = tuple(field.name for field in fields(TaskGroup))


@dataclass(frozen=True, kw_only=True)
class TaskFilter:
    """Which tasks of a task set: those that meet one of the first four, all if none of these is given.

    Attributes:
        keys: they have one of these keys.
        globs: their key matches one of these patterns of `*` and `?`, as `fnmatch.fnmatchcase` matches it.
        domains: they are of one of these.
        words: their key or instruction has this text, in any case.
        where: of them, those with one of the accepted values of each label.
        ids: of them, these; None = all.
    """

    keys: Sequence[str] = ()
    globs: Sequence[str] = ()
    domains: Sequence[str] = ()
    words: str = ""
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ids: Sequence[UUID] | None = None

    @property
    def matching(self) -> ColumnElement[bool]:
        """The condition of the first four."""
        # One parameter each, however many are ticked.
        alternatives = [like(glob) for glob in self.globs]
        if self.keys:
            alternatives.append(task_key == any_(literal(list(self.keys), ARRAY(Text))))
        if self.domains:
            alternatives.append(Task.domain == any_(literal(list(self.domains), ARRAY(Text))))
        if self.words:
            alternatives.append(contains_words(self.words, task_key, Task.instruction))
        return or_(*alternatives) if alternatives else true()

    @property
    def condition(self) -> ColumnElement[bool]:
        """The whole condition."""
        among = true() if self.ids is None else Task.id == any_(literal(list(self.ids), ARRAY(Uuid)))
        return and_(self.matching, *labels.has(self.where), among)


ALL = TaskFilter()


def like(glob: str) -> ColumnElement[bool]:
    """Whether a task's key matches a pattern of `*` and `?`."""
    return task_key.like(glob.translate(_LIKE), escape="\\")


def each_matches(session: Session, task_set_id: UUID, wish: TaskFilter) -> bool:
    """Whether some task passes; each key and pattern has one, and each value of a label one with a key or pattern."""
    values = [labels.has({name: [value]})[0] for name, labels_value in wish.where.items() for value in labels_value]
    conditions = [*map(like, wish.globs), *(value & wish.matching for value in values)]
    own = Task.task_set_id == task_set_id
    columns: list[ColumnElement[bool]] = [select(Task.id).where(own, wish.condition).exists()]
    columns += [select(Task.id).where(own, condition).exists() for condition in conditions]
    if wish.keys:
        matching = select(func.count()).where(own, TaskFilter(keys=wish.keys).matching).scalar_subquery()
        columns.append(matching == len(set(wish.keys)))
    return all(session.execute(select(*columns)).one())


def task_groups(
    session: Session,
    task_set_id: UUID,
    among: TaskFilter = ALL,
    variant: tuple[str, str] | None = None,
) -> list[TaskGroup]:
    """The tasks of a task set by what they have in common, in the order of their domains.

    Args:
        session: the transaction.
        task_set_id: their task set.
        among: which of them.
        variant: axis and value of the variant that is requested, if any.
    """
    columns = (Task.domain, Task.requirements_id, Task.difficulty, Task.requires_judge, Task.has_user_functions)
    tasks = _tasks(task_set_id, among, variant, *columns).subquery()
    groups = select(tasks, func.count().label("number")).group_by(*tasks.c).subquery()
    # Equal requirements are read of one task: the index has everything else (ix_task_group).
    own = aliased(Task)
    conditions = (
        own.task_set_id == task_set_id,
        own.domain == groups.c.domain,
        own.requirements_id == groups.c.requirements_id,
    )
    needs = select(own.os, own.requires, own.licences).where(*conditions).limit(1).lateral()
    query = select(groups, needs).join(needs, true()).order_by(groups.c.domain)
    return [TaskGroup(**{name: row[name] for name in _FIELDS}) for row in session.execute(query).mappings()]


def task_rows(  # noqa: PLR0913 - as `task_groups`, and the number
    session: Session,
    task_set_id: UUID,
    among: TaskFilter = ALL,
    variant: tuple[str, str] | None = None,
    *,
    limit: int | None = None,
) -> Sequence[AnyRow]:
    """Single tasks by domain and name, with the fields of their group, their name, key and instruction."""
    columns = (Task.domain, Task.difficulty, Task.name, task_key.label("key"), Task.instruction)
    needs = (Task.os, Task.requires, Task.licences, Task.requires_judge, Task.has_user_functions)
    query = _tasks(task_set_id, among, variant, *columns, *needs)
    return session.execute(query.order_by(Task.domain, Task.name).limit(limit)).all()


def _tasks(
    task_set_id: UUID, among: TaskFilter, variant: tuple[str, str] | None, *columns: _Column
) -> Select[*tuple[Any, ...]]:
    query = select(*columns, Quarantine.reason.label("quarantined"), _has(variant).label("has_variant"))
    query = query.outerjoin(Quarantine, (Quarantine.task_id == Task.id) & Quarantine.lifted_at.is_(None))
    return query.where(Task.task_set_id == task_set_id, among.condition)


def _has(variant: tuple[str, str] | None) -> ColumnElement[bool]:
    if variant is None:
        return true()
    axis, value = variant
    own = (TaskVariant.task_id == Task.id, TaskVariant.axis == axis, TaskVariant.value == value)
    return select(TaskVariant.id).where(*own).correlate(Task).exists()
