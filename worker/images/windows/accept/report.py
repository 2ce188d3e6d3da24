"""The report: one file, written again after each section, so that a broken-off acceptance says how far it came."""

import json
import platform
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backend.domain.errors import DeskarenaError
from backend.domain.model.task import JSON, Frozen
from worker.images.checks import CheckResult
from worker.images.windows.settings import SOURCES

Tell = Callable[[str], None]


class Section(Frozen):
    """One part of the acceptance.

    Attributes:
        fault: why it could not be done; its lines then go as far as it came.
        facts: figures.
    """

    name: str
    lines: tuple[CheckResult, ...] = ()
    facts: Mapping[str, JSON] = {}
    fault: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether all of it is well."""
        return not self.fault and all(line.ok for line in self.lines)


class AcceptanceReport:
    """The file and whom to tell."""

    def __init__(self, file: Path, tell: Tell) -> None:
        """Writes nothing yet."""
        self.file, self._tell = file, tell
        self.sections: list[Section] = []
        self._begun = datetime.now(UTC)

    def section(self, name: str, work: Callable[[], Section]) -> bool:
        """Does a section and writes the report. Whether it is well; what fails in one of our ways is in the report."""
        self._tell(f"--- {name}")
        start = time.monotonic()
        try:
            section = work()
        except DeskarenaError as error:
            section = Section(name=name, fault=error.told)
        section = section.model_copy(update={"name": name, "seconds": round(time.monotonic() - start, 1)})
        self.sections.append(section)
        self._write()
        for line in section.lines:
            if not line.ok:
                self._tell(f"FAILED {line.name}: {line.fault}")
        count = f"{sum(line.ok for line in section.lines)} of {len(section.lines)} well" if section.lines else ""
        self._tell(
            f"{'ok    ' if section.ok else 'FAILED'} {name} ({section.seconds} s) {count} {section.fault}".rstrip()
        )
        return section.ok

    @property
    def ok(self) -> bool:
        """Whether every section is well."""
        return all(section.ok for section in self.sections)

    def _write(self) -> None:
        document = {
            "format": 1,
            "begun_at": self._begun.isoformat(),
            "written_at": datetime.now(UTC).isoformat(),
            "ok": self.ok,
            "sections": [{"ok": section.ok, **section.model_dump(mode="json")} for section in self.sections],
        }
        partial = self.file.with_suffix(".part")
        partial.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(self.file)


def host_facts() -> dict[str, Any]:
    """What the figures belong to; no name of the machine or of a person."""
    cpu = next((line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "")
    memory = next((int(line.split()[1]) // 1024 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return {
        "kernel": platform.release(),
        "cpu": cpu,
        "cores": len([line for line in _lines("/proc/cpuinfo") if line.startswith("processor")]),
        "memory_mib": memory,
        "commit": _command_output("git", "-C", str(SOURCES.parent), "rev-parse", "HEAD"),
        "qemu": _command_output("qemu-system-x86_64", "--version").partition("\n")[0],
    }


def _lines(file: str) -> list[str]:
    return Path(file).read_text(encoding="utf-8", errors="replace").splitlines()


def _command_output(*words: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    except OSError as error:
        return f"not to be had: {error}"
    return done.stdout.strip()
