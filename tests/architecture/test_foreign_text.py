"""Foreign text goes into XML, CSV, terminals and logs by one mechanism, `backend.domain.formats.foreign_text`.

Each exception has a reason.
"""

import ast
from pathlib import Path

from tests.architecture.tree import calls, dotted, parsed, python_files

MECHANISM = Path("backend/domain/formats/foreign_text.py")
SERVICE = ("backend", "worker")
CHILDREN = "JSON for the process that started it"
WRITERS = {
    "backend/db/migrate.py": "prints our own migrations",
    "backend/domain/evaluators/metrics/vscode/_suite_peer.py": CHILDREN,
    "worker/commands/examine.py": CHILDREN,
    "worker/k8s/preflight.py": CHILDREN,
    "worker/qemu/background_job.py": CHILDREN,
    "worker/qemu/host_facts.py": CHILDREN,
    "worker/qemu/supervisor.py": "standard library only; its one sentence is ours",
}
"""Programs that print, but not for people, or nothing foreign."""
TABLES = {
    "backend/domain/file_generators/texts.py": "files of tasks, for desktops",
}
"""Modules that write CSV for no person."""
DOCUMENTS = {
    "backend/domain/formats/package_repair.py": "parts of office files, for our own parser",
    "backend/domain/formats/slides_text.py": "canonical form, to compare",
    "backend/domain/evaluators/metrics/others/_epub.py": "parts of books, to compare",
    "worker/images/windows/autounattend.py": "our own answers, checked by their schema",
}
"""Modules that write XML without foreign text."""
PRINTS = ("print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write", "sys.stdout.buffer.writelines")
LOGS = {"logging.basicConfig", "logging.StreamHandler", "logging.FileHandler", "uvicorn.Config"}


def callers(names: set[str], suffixes: tuple[str, ...] = ()) -> set[str]:
    """Modules of the service that call one of these, the mechanism itself left out."""
    words = tuple(sorted(name.rpartition(".")[2] for name in (*names, *suffixes)))
    return {
        str(path)
        for path in python_files(*SERVICE, containing=words)
        if path != MECHANISM
        and any((name := dotted(call.func)) in names or name.endswith(suffixes) for call in calls(parsed(path)))
    }


def names_in(path: str) -> set[str]:
    return {node.id for node in ast.walk(parsed(Path(path))) if isinstance(node, ast.Name)}


class TestTables:
    def test_one_module_writes_csv(self) -> None:
        assert callers({"csv.writer", "csv.DictWriter"}) == set(TABLES)


class TestDocuments:
    def test_one_module_writes_xml(self) -> None:
        assert callers({"tostring", "ElementTree"}, (".tostring", "ElementTree.write")) == set(DOCUMENTS)


class TestTerminals:
    def test_commands_print_through_the_visible_streams_of_main(self) -> None:
        assert "visible_streams" in names_in("backend/cli/main.py")

    def test_every_other_program_that_prints_has_them_too(self) -> None:
        """Commands of `backend/cli` print bytes in one place, which looks whether a terminal reads them."""
        outside = {path for path in callers(set(PRINTS)) if not path.startswith("backend/cli/")}
        assert {path for path in outside if "visible_streams" not in names_in(path)} == set(WRITERS)
        assert callers({"sys.stdout.buffer.write", "sys.stdout.buffer.writelines"}) == {"backend/cli/output.py"}


class TestLogs:
    def test_every_log_set_up_escapes_control_characters(self) -> None:
        found = callers(LOGS)
        assert "backend/web/serve.py" in found
        assert {path for path in (*found, "worker/app.py") if "make_logs_visible" not in names_in(path)} == set()
