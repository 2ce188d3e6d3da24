"""Benchmark readers, one file each: a published benchmark's files -> Tasks.

`lint` and `findings` report problems of a task before it runs, `external_assets` the files of the web that it needs,
`differences` the changes of a new version, `expected_score` the score that validation must find, `labels_of` all labels
of a task.
"""

from backend.domain.benchmarks._assets import external_assets
from backend.domain.benchmarks._diff import FieldChange, TaskChange, differences
from backend.domain.benchmarks._label_csv import TaskLabels, read_labels
from backend.domain.benchmarks._lint import TaskLintFinding, findings, lint
from backend.domain.benchmarks._omnibench_files import read_pool, read_tasks
from backend.domain.benchmarks._paper_tables import (
    DIFFICULTY,
    MINUTES,
    NODE_SIZE,
    SHARE,
    STEPS,
    STEPS_DIFFICULTY,
    STEPS_SUCCESS,
    SUCCESS_DIFFICULTY,
    PaperColumn,
    PaperTable,
    paper_tables,
)
from backend.domain.benchmarks._reported import ReportedFigure, published_minimum_steps, reported_results
from backend.domain.benchmarks._strict import strict
from backend.domain.benchmarks._suite_papers import SUITE_PAPERS, SuitePaper
from backend.domain.benchmarks._task_labels import labels_of
from backend.domain.benchmarks._validate import expected_score, is_sound

__all__ = [
    "DIFFICULTY",
    "MINUTES",
    "NODE_SIZE",
    "SHARE",
    "STEPS",
    "STEPS_DIFFICULTY",
    "STEPS_SUCCESS",
    "SUCCESS_DIFFICULTY",
    "SUITE_PAPERS",
    "FieldChange",
    "PaperColumn",
    "PaperTable",
    "ReportedFigure",
    "SuitePaper",
    "TaskChange",
    "TaskLabels",
    "TaskLintFinding",
    "differences",
    "expected_score",
    "external_assets",
    "findings",
    "is_sound",
    "labels_of",
    "lint",
    "paper_tables",
    "published_minimum_steps",
    "read_labels",
    "read_pool",
    "read_tasks",
    "reported_results",
    "strict",
]
