"""The published suites: what is published of each, and whether it is imported here."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import benchmarks as repository
from backend.domain.benchmarks import SUITE_PAPERS, SuitePaper, reported_results
from backend.domain.errors import NotFound
from backend.services.benchmarks.views.benchmark import PublishedResultView
from backend.services.read_model import ReadModel


class PublishedSuite(ReadModel):
    """A published suite."""

    name: str = Field(examples=["osworld"])
    title: str
    paper: str
    year: int
    licence: str = Field(description="Of its files; empty: not known.")
    files: str = Field(description="Where its files are published; empty: nowhere.")
    how: str = Field(description="Command that imports them.")
    guide: str
    about: str
    figures: int = Field(description="Published numbers at hand.")
    sources: dict[str, int] = Field(description="Numbers by table or section.")
    benchmarks: list[str] = Field(description="Benchmarks here that have its form.")


class PublishedSuiteDetail(PublishedSuite):
    """A published suite with all figures by source, digits as printed."""

    results: dict[str, list[PublishedResultView]]


def published_suites(session: Session) -> list[PublishedSuite]:
    """All of them, readable before anything is imported."""
    names = _imported_names(session)
    return [PublishedSuite(**_fields(paper, names)) for paper in SUITE_PAPERS]


def published_suite(session: Session, name: str) -> PublishedSuiteDetail:
    """One suite. Raises NotFound."""
    for paper in SUITE_PAPERS:
        if paper.name == name:
            results: dict[str, list[PublishedResultView]] = {}
            for figure in reported_results(paper.name):
                row = PublishedResultView(
                    source=figure.source,
                    agent=figure.agent,
                    observation=figure.inputs,
                    measure=figure.measure,
                    group_kind=figure.group_kind,
                    group=figure.group,
                    value=figure.value,
                    unit=figure.unit,
                    note=figure.note,
                )
                results.setdefault(figure.source, []).append(row)
            return PublishedSuiteDetail(**_fields(paper, _imported_names(session)), results=results)
    names = ", ".join(paper.name for paper in SUITE_PAPERS)
    raise NotFound(f"there is no published suite {name!r}", code="suite_not_found", hint=f"Known: {names}.")


FIGURES_HEAD = ("source", "agent", "observation", "group_kind", "group", "measure", "value", "unit", "note")


def figure_rows(suite: PublishedSuiteDetail) -> Iterator[list[Any]]:
    """All figures of a suite as flat rows, values as numbers."""
    for rows in suite.results.values():
        for row in rows:
            yield [getattr(row, name) for name in FIGURES_HEAD]


def _imported_names(session: Session) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for row in repository.all_of(session, None):
        names.setdefault(row.kind, []).append(row.name)
    return names


def _fields(paper: SuitePaper, names: Mapping[str, list[str]]) -> dict[str, object]:
    sources: dict[str, int] = {}
    for figure in reported_results(paper.name):
        sources[figure.source] = sources.get(figure.source, 0) + 1
    return {
        **paper.model_dump(),
        "figures": sum(sources.values()),
        "sources": sources,
        "benchmarks": names.get(paper.name, []),
    }
