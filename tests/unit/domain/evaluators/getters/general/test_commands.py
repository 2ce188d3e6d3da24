from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed, GuestRefused, Invalid
from backend.domain.evaluators.getters.general.replay import ReplayGetter
from backend.domain.evaluators.getters.general.vm_command_error import VmCommandError
from backend.domain.evaluators.getters.general.vm_terminal_output import VmTerminalOutput
from backend.domain.ports.desktop import ExecResult
from tests.error_codes import raises_code
from tests.factories.desktops import linux, refuses

NOWHERE = Path("unused")


class TestVmCommandError:
    def test_standard_output_is_a_note_of_the_error_stream(self) -> None:
        context = linux()
        context.desktop.commands["tool"] = lambda _: ExecResult(returncode=3, output="out", error="Error: no")
        blob = VmCommandError().collect(context, {"command": "tool"})[0]
        assert (blob.data, blob.note) == (b"Error: no", "exit code 3 out")


class TestVmTerminalOutput:
    @pytest.mark.parametrize(
        "answer", [refuses("a program failed", "failed"), {"status": "success", "output": 7}, ["output"]]
    )
    def test_unreadable_terminal_gives_no_verdict(self, answer: object) -> None:
        context = linux(routes={("GET", "/terminal"): answer})
        with pytest.raises(EvaluatorFailed):
            VmTerminalOutput().read(VmTerminalOutput().collect(context, {}), {}, NOWHERE)


class TestReplay:
    def test_keys_and_text_are_pressed_in_order(self) -> None:
        context = linux()
        steps = [
            {"type": "hotkey", "param": ["ctrl", "shift"]},
            {"type": "typewrite", "param": "it's"},
            {"type": "press", "param": "enter"},
        ]
        assert ReplayGetter().collect(context, {"trajectory": steps}) == []
        assert [(str(a.type), a.keys, a.text) for a in context.desktop.performed] == [
            ("HOTKEY", ("ctrl", "shift"), ""),
            ("TYPING", (), "it's"),
            ("PRESS", ("enter",), ""),
        ]

    def test_unknown_key_is_refused(self) -> None:
        with raises_code(GuestRefused, "guest_refused"):
            ReplayGetter().collect(linux(), {"trajectory": [{"type": "press", "param": "nokey"}]})

    @pytest.mark.parametrize("step", [{"type": "click", "param": "x"}, {"type": "hotkey", "param": "ctrl"}, {}])
    def test_an_unknown_step_is_refused(self, step: dict[str, str]) -> None:
        with pytest.raises(Invalid):
            ReplayGetter().check({"trajectory": [step]})
