"""Manifest of an export: request, content, provenance and exclusions."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from backend.db.models import Benchmark
from backend.db.repositories.export.training_data import TrainingEpisode
from backend.domain.model.export_request import ExportRequest
from backend.domain.model.trajectory_export import ExportedAttempt
from backend.services.export.counts import note_of
from backend.services.export.masks import Masker
from backend.services.runs.provenance import code_version

FORMAT = "deskarena-trajectories"
VERSION = 1


@dataclass
class Manifest:
    """Built during the export. Equal data and filters give equal manifests: it has no timestamps."""

    request: ExportRequest
    masker: Masker
    trajectories: int = 0
    steps: int = 0
    results: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)
    pictures: int = 0
    picture_bytes: int = 0
    pictures_missing: int = 0
    files: list[dict[str, Any]] = field(default_factory=list)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    benchmarks: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, row: TrainingEpisode, recorded: ExportedAttempt) -> None:
        self.trajectories += 1
        self.steps += len(recorded.acted)
        self.results[recorded.result.value] += 1
        self.kinds[recorded.kind.value] += 1
        self.runs.setdefault(str(row.run.id), self._run(row))
        benchmark = self.benchmarks.setdefault(row.benchmark.name, describe_benchmark(row.benchmark))
        benchmark["trajectories"] += 1
        benchmark["versions"][str(row.task_set.version)] = row.task_set.content_hash

    def file(self, name: str, sha256: str, size: int, rows: int) -> None:
        self.files.append({"name": name, "sha256": sha256, "bytes": size, "rows": rows})

    def as_json(self) -> dict[str, Any]:
        """The manifest, in reading order."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "form": self.request.form,
            "file_format": self.request.format,
            "filters": self.request.filters.model_dump(mode="json"),
            "made_by": dict(code_version()),
            "counts": {
                "trajectories": self.trajectories,
                "steps": self.steps,
                "results": dict(sorted(self.results.items())),
                "kinds": dict(sorted(self.kinds.items())),
                "pictures": self.pictures,
                "picture_bytes": self.picture_bytes,
                "pictures_missing": self.pictures_missing,
            },
            "excluded": dict(sorted(self.excluded.items())),
            "notes": [entry["note"] for _, entry in sorted(self.benchmarks.items()) if entry["note"]],
            "benchmarks": [entry for _, entry in sorted(self.benchmarks.items())],
            "runs": [entry for _, entry in sorted(self.runs.items())],
            "files": self.files,
        }

    def _run(self, row: TrainingEpisode) -> dict[str, Any]:
        """A run with what defines its agent."""
        run = row.run
        return {
            "id": str(run.id),
            "purpose": run.purpose,
            "benchmark": row.benchmark.name,
            "benchmark_version": row.task_set.version,
            "agent": row.agent.name,
            "configuration": {"id": str(row.agent.id), "name": row.agent.title},
            "provider": run.provider,
            "config": self.masker.settings(run.config),
            "pins": self.masker.settings(run.pins),
        }


def describe_benchmark(benchmark: Benchmark) -> dict[str, Any]:
    """A benchmark with its licence."""
    note = note_of(benchmark)
    return {
        "name": benchmark.name,
        "title": benchmark.title,
        "kind": benchmark.kind,
        "licence": note.licence,
        "licence_status": note.status.value,
        "note": note.note,
        "source": note.source,
        "versions": {},
        "trajectories": 0,
    }
