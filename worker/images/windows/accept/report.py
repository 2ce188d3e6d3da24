"""Report file, rewritten after each section, so that an interrupted test shows how far it got."""

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
    """One section of the acceptance test.

    Attributes:
        fault: why it failed; its lines then end at that point.
        facts: figures.
    """

    name: str
    lines: tuple[CheckResult, ...] = ()
    facts: Mapping[str, JSON] = {}
    fault: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether all lines passed."""
        return not self.fault and all(line.ok for line in self.lines)


class AcceptanceReport:
    """The report file and the function that prints progress."""

    def __init__(self, file: Path, tell: Tell) -> None:
        self.file, self._tell = file, tell
        self.sections: list[Section] = []
        self._started_at = datetime.now(UTC)

    def section(self, name: str, work: Callable[[], Section]) -> bool:
        """Runs a section and writes the report. Returns whether it passed; our own errors become part of the report."""
        self._tell(f"--- {name}")
        start = time.monotonic()
        try:
            section = work()
        except DeskarenaError as error:
            section = Section(name=name, fault=error.text)
        section = section.model_copy(update={"name": name, "seconds": round(time.monotonic() - start, 1)})
        self.sections.append(section)
        self._write()
        for line in section.lines:
            if not line.ok:
                self._tell(f"FAILED {line.name}: {line.fault}")
        count = f"{sum(line.ok for line in section.lines)} of {len(section.lines)} passed" if section.lines else ""
        self._tell(
            f"{'ok    ' if section.ok else 'FAILED'} {name} ({section.seconds} s) {count} {section.fault}".rstrip()
        )
        return section.ok

    @property
    def ok(self) -> bool:
        """Whether every section passed."""
        return all(section.ok for section in self.sections)

    def _write(self) -> None:
        document = {
            "format": 1,
            "begun_at": self._started_at.isoformat(),
            "written_at": datetime.now(UTC).isoformat(),
            "ok": self.ok,
            "sections": [{"ok": section.ok, **section.model_dump(mode="json")} for section in self.sections],
        }
        partial = self.file.with_suffix(".part")
        partial.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(self.file)


def host_facts() -> dict[str, Any]:
    """Host facts that the figures depend on, without names of the machine or people."""
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
        result = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    except OSError as error:
        return f"not available: {error}"
    return result.stdout.strip()
