"""Health of Windows, without Windows: fakes replace what only Windows can answer."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from guest_server.protocol.errors import GuestError
from guest_server.protocol.health_facts import Process
from guest_server.windows import health as windows_health
from guest_server.windows.health import (
    LICENCE_QUESTION,
    RESTARTS,
    SnapshotProcess,
    WindowsHealth,
    ask_licence,
    cover,
    licence_until,
    of_a_task,
    pending,
)
from tests.error_codes import raises_fields

NOW = 1_800_000_000.0
SERVER = 400


def row(name: str, pid: int = 50, *, parent: int = 1, born: int = 900, own: bool = True) -> SnapshotProcess:
    return SnapshotProcess(pid, parent, born, name, own)


class MemorySources:
    """A Windows in memory."""

    def __init__(self) -> None:
        self.rows = [row("explorer.exe", 10, born=5)]
        self.desktop = "Default"
        self.values: dict[tuple[str, str], object] = {}

    def processes(self) -> list[SnapshotProcess]:
        return list(self.rows)

    def input_desktop(self) -> str:
        return self.desktop

    def registry(self, key: str, name: str) -> object | None:
        return self.values.get((key, name))

    def memory_free(self) -> int | None:
        return 2**30

    def scale(self) -> float:
        return 1.25


class TestOfATask:
    def test_processes_started_later(self) -> None:
        result = of_a_task([row("explorer.exe", 10, born=5), row("notepad.exe")], frozenset({(10, 5)}), SERVER)
        assert result == [Process(50, "notepad.exe")]

    @pytest.mark.parametrize(
        "found",
        [
            row(""),
            row("RuntimeBroker.exe"),
            row("Widgets.exe"),
            row("msedgewebview2.exe"),
            row("lsass.exe", own=False),
            row("python.exe", parent=SERVER),
        ],
    )
    def test_system_processes_are_not_a_tasks(self, found: SnapshotProcess) -> None:
        assert of_a_task([found], frozenset(), SERVER) == []

    def test_an_agents_python_is_one(self) -> None:
        assert of_a_task([row("python.exe", parent=77)], frozenset(), SERVER) == [Process(50, "python.exe")]


class TestPending:
    @pytest.mark.parametrize(("key", "name", "words"), RESTARTS)
    def test_each_reason_has_its_words(self, key: str, name: str, words: str) -> None:
        sources = MemorySources()
        sources.values[key, name] = name != "SystemSetupInProgress" or 1
        assert pending([], sources.registry) == [words]

    def test_zero_is_not_due(self) -> None:
        assert pending([], lambda _key, name: 0 if name else None) == []

    def test_an_installer_runs(self) -> None:
        assert pending([row("TiWorker.exe", own=False)], lambda *_: None) == ["Windows installs updates"]


class TestCover:
    @pytest.mark.parametrize(
        ("desktop", "own", "told"),
        [
            ("Default", "default", ""),
            ("shell", "shell", ""),
            ("Winlogon", "Default", "locked"),
            ("Winlogon", "Winlogon", "locked"),
            ("Screen-saver", "Default", "screen saver"),
            ("x", "Default", "the desktop x"),
        ],
    )
    def test_by_the_desktops_name(self, desktop: str, own: str, told: str) -> None:
        assert cover(desktop, own) == told


class TestLicenceUntil:
    def told(self, *products: tuple[str, int]) -> str:
        rows = [
            {"Description": f"Windows(R), {channel} channel", "GracePeriodRemaining": left}
            for channel, left in products
        ]
        return json.dumps(rows if len(rows) > 1 else rows[0])

    def test_an_evaluation_ends(self) -> None:
        assert licence_until(self.told(("TIMEBASED_EVAL", 129600)), NOW) == NOW + 90 * 86400

    def test_expired_evaluation_ends_now(self) -> None:
        assert licence_until(self.told(("TIMEBASED_EVAL", 0)), NOW) == NOW

    def test_the_best_of_several_counts(self) -> None:
        assert licence_until(self.told(("TIMEBASED_EVAL", 0), ("TIMEBASED_EVAL", 60)), NOW) == NOW + 3600

    @pytest.mark.parametrize("product", [("RETAIL", 0), ("VOLUME_KMSCLIENT", 0), ("VOLUME_KMSCLIENT", 259200)])
    def test_other_licences_do_not_expire(self, product: tuple[str, int]) -> None:
        """With the set-up keys of Microsoft's list and no network it is never activated, and works on."""
        assert licence_until(self.told(product), NOW) is None
        assert licence_until(self.told(("TIMEBASED_EVAL", 60), product), NOW) is None

    @pytest.mark.parametrize(
        "answer", ["", "null", "[]", '[{"Description":"x"}]', '{"Description":"","GracePeriodRemaining":"x"}', "7"]
    )
    def test_unclear_licence_answer_is_an_error(self, answer: str) -> None:
        with pytest.raises(GuestError):
            licence_until(answer, NOW)


class TestAskLicence:
    def test_missing_powershell_gives_no_licence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(windows_health, "LICENCE_QUESTION", ("no-such-program",))
        assert ask_licence() is None

    def test_a_refusal_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(windows_health, "LICENCE_QUESTION", ("false",))
        with raises_fields(GuestError, kind="failed", mentions="licence"):
            ask_licence()

    def test_asks_for_windows_itself(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[list[str]] = []

        def run(argv: list[str], **_: Any) -> "subprocess.CompletedProcess[bytes]":
            asked.append(argv)
            return subprocess.CompletedProcess(argv, 0, b'{"Description":"x","GracePeriodRemaining":0}')

        monkeypatch.setattr(windows_health, "subprocess", SimpleNamespace(**{**vars(subprocess), "run": run}))
        assert ask_licence() is None
        assert asked == [list(LICENCE_QUESTION)]
        assert windows_health.WINDOWS_APPLICATION in asked[0][-1]


class TestWindowsHealth:
    def test_every_health_fact_is_reported(self, tmp_path: Path) -> None:
        sources = MemorySources()
        health = WindowsHealth(tmp_path, sources, SERVER, ask=lambda: NOW)
        health.settled()
        sources.rows.append(row("notepad.exe"))
        sources.desktop = "Winlogon"
        facts = health.facts()
        assert facts.disks[0].free > 0
        assert (facts.memory_free, facts.scale, facts.locked) == (2**30, 1.25, "locked")
        assert (facts.licence_until, list(facts.pending)) == (NOW, [])
        assert facts.processes == [Process(50, "notepad.exe")]

    def test_asks_for_the_licence_once(self, tmp_path: Path) -> None:
        asked: list[int] = []

        def ask() -> None:
            asked.append(1)

        health = WindowsHealth(tmp_path, MemorySources(), SERVER, ask=ask)
        health.settled()
        health.settled()
        assert asked == [1]

    def test_facts_before_settling_are_refused(self, tmp_path: Path) -> None:
        with raises_fields(GuestError, kind="failed"):
            WindowsHealth(tmp_path, MemorySources(), SERVER).facts()
