"""Values do not change: a dataclass of the backend is frozen, except those that collect while something goes on."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import dotted, parsed, python_files

CHANGING = frozenset(
    {
        "backend/cli/embedded/server.py:RunningServer",
        "backend/cli/embedded/supervisor.py:ChildService",
        "backend/cli/output.py:ErrorForm",
        "backend/domain/actions/_pywinauto_keys.py:_Reader",
        "backend/domain/benchmarks/prosoftarena.py:_Folder",
        "backend/domain/drafts/recording.py:RecordedSolution",
        "backend/domain/evaluators/metrics/table/_books.py:WorkbookPair",
        "backend/domain/evaluators/metrics/table/_formula_values.py:FormulaContext",
        "backend/domain/evaluators/metrics/thunderbird/_filters.py:MailFilter",
        "backend/domain/file_generators/prompt.py:Column",
        "backend/domain/file_generators/prompt.py:Table",
        "backend/domain/formats/gimp_config.py:ConfigList",
        "backend/domain/formats/seven_zip.py:Folder",
        "backend/domain/formats/sheet.py:Sheet",
        "backend/domain/loop/agent_loop.py:LoopProgress",
        "backend/services/artifacts/stores/copying.py:CopyReport",
        "backend/services/attempts/attempts.py:_LockedAttempt",
        "backend/services/backups/backup.py:BackupReport",
        "backend/services/backups/verification.py:Verification",
        "backend/services/export/export.py:ExportFile",
        "backend/services/export/export.py:_PendingFile",
        "backend/services/export/manifest.py:Manifest",
        "backend/services/scheduling/claim_types.py:Claims",
        "backend/services/scheduling/episode_scheduler.py:_EpisodeSelection",
        "backend/web/people/takeover_socket.py:_Allowance",
    }
)
"""`module:class` of dataclasses that a loop, a parser or one transaction fills step by step."""


def dataclasses(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Name of each dataclass, and whether it is frozen."""
    for node in ast.walk(tree):
        for decorator in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            options = decorator.keywords if isinstance(decorator, ast.Call) else []
            name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name.rpartition(".")[2] == "dataclass" and isinstance(node, ast.ClassDef):
                yield node.name, any(each.arg == "frozen" and ast.unparse(each.value) == "True" for each in options)


def changing() -> set[str]:
    files: list[Path] = python_files("backend")
    return {f"{path}:{name}" for path in files for name, frozen in dataclasses(parsed(path)) if not frozen}


def test_dataclasses_are_frozen() -> None:
    assert changing() - CHANGING == set()


def test_the_exceptions_are_in_use() -> None:
    assert CHANGING - changing() == set()


def test_both_forms_are_recognised() -> None:
    decorators = {"A": "dataclass", "B": "dataclass(frozen=True)", "C": "dataclasses.dataclass(frozen=False)"}
    tree = ast.parse("\n".join(f"@{decorator}\nclass {name}: ..." for name, decorator in decorators.items()))
    assert list(dataclasses(tree)) == [("A", False), ("B", True), ("C", False)]
