"""Which of a file's key bindings is in force."""

import json
from pathlib import Path

import pytest

from backend.domain.evaluators.metrics.vscode.check_json_keybindings import check_json_keybindings


def write(folder: Path, bindings: str) -> str:
    (folder / "keybindings.json").write_text(f"[{bindings}]")
    return str(folder / "keybindings.json")


@pytest.mark.parametrize(
    ("bindings", "value"),
    [
        ('{"key": "Shift+Ctrl+K  ctrl+j", "command": "a.b", "when": "x&&!y"}', 1.0),
        ('{"key": "ctrl+shift+k ctrl+j", "command": "a.b", "when": "!y && x"}', 1.0),
        ('{"key": "ctrl+shift+k ctrl+j", "command": "a.b", "when": "x || !y"}', 0.0),
        ('{"key": "ctrl+shift+k ctrl+j", "command": "a.b", "when": "x && !z"}', 0.0),
        ('{"key": "ctrl+k ctrl+shift+j", "command": "a.b", "when": "x && !y"}', 0.0),
        ('GOAL, {"key": "ctrl+shift+k ctrl+j", "command": "other", "when": "x && !y"}', 0.0),
        ('GOAL, {"key": "shift+ctrl+k ctrl+j", "command": ""}', 0.0),
        ('GOAL, {"key": "ctrl+shift+k ctrl+j", "command": "other", "when": "z"}', 1.0),
        ('GOAL, {"key": "ctrl+j", "command": "other"}', 1.0),
        ('{"key": "ctrl+shift+k ctrl+j", "command": "other"}, GOAL', 1.0),
        ('GOAL, {"key": "ctrl+shift+k ctrl+j", "command": "-a.b"}', 1.0),
        ('GOAL, {"key": "ctrl+shift+k ctrl+j", "command": "other"}, GOAL', 1.0),
        ("[], 1, null", 0.0),
        ('{"key": "ctrl+shift+k ctrl+j", "command": "a.b", "when": "x && !y", "args": null, "mac": "cmd+j"}', 1.0),
        ('{"key": "ctrl+shift+k ctrl+j", "command": "a.b", "when": "x && !y", "args": 0}', 0.0),
        ('GOAL, {"key": "ctrl+shift+k ctrl+j", "command": "other", "mac": "cmd+j"}', 0.0),
        ('GOAL {"key": "f1", "command": "x"},,', 1.0),
    ],
)
def test_the_key_binding_that_is_in_force(tmp_path: Path, bindings: str, value: float) -> None:
    goal = {"key": "ctrl+shift+k ctrl+j", "command": "a.b", "when": "x && !y"}
    path = write(tmp_path, bindings.replace("GOAL", json.dumps(goal)))
    assert check_json_keybindings(path, {"expected": goal}).value == value


def test_removed_default_binding_that_is_restored_scores_0(tmp_path: Path) -> None:
    gone = '{"key": "ctrl+f", "command": "-list.find"}'
    for more, value in (("", 1.0), (', {"key": "ctrl+f", "command": "x"}', 1.0),
                        (', {"key": "ctrl+f", "command": "list.find"}', 0.0)):  # fmt: skip
        path = write(tmp_path, gone + more)
        assert check_json_keybindings(path, {"expected": json.loads(gone)}).value == value


@pytest.mark.parametrize("key", ["meta+j", "win+j", "cmd+j", "Win+J", "shift+meta+j"])
def test_names_of_the_meta_key(tmp_path: Path, key: str) -> None:
    path = write(tmp_path, json.dumps({"key": key, "command": "x"}))
    verdict = check_json_keybindings(path, {"expected": {"key": "meta+j", "command": "x"}})
    assert verdict.value == float("shift" not in key)
