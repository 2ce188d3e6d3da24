"""The clipboard, against xclip and an editor."""

import signal

import pytest

from tests.integration.guest_server.session import RunningSession, wait

pytestmark = pytest.mark.desktop

TEXTS = {"words": "hello", "unicode": "é中😀<>\n\ttab", "long": "ab€\n" * 20_000, "empty": ""}


class TestWrite:
    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
    def test_another_program_reads_it(self, session: RunningSession, text: str) -> None:
        session.post("/clipboard", {"text": text})
        assert session.desktop.execute(["xclip", "-selection", "clipboard", "-o"]).output == text

    def test_offers_its_forms(self, session: RunningSession) -> None:
        session.post("/clipboard", {"text": "é"})
        targets = session.desktop.execute(["xclip", "-selection", "clipboard", "-o", "-t", "TARGETS"]).output.split()
        assert {"TARGETS", "UTF8_STRING", "STRING", "text/plain;charset=utf-8"} <= set(targets)
        wanted = session.desktop.execute(["xclip", "-selection", "clipboard", "-o", "-t", "image/png"])
        assert wanted.returncode == 1

    def test_an_editor_pastes_it(self, clean: RunningSession) -> None:
        path = clean.edit("paste.txt")
        clean.post("/clipboard", {"text": "from the service é中😀"})
        clean.input({"type": "hotkey", "keys": ["ctrl", "v"]})
        clean.get("/stable", quiet=0.5)  # The editor asks the owner for it, and Ctrl+S must not come in between.
        clean.save(path, "from the service é中😀")

    def test_too_long_text_is_not_written(self, session: RunningSession) -> None:
        response = session.http.post("/clipboard", json={"text": "x" * 100_001})
        assert (response.status_code, response.json()["error"]) == (413, "too_large")

    def test_half_a_character(self, session: RunningSession) -> None:
        response = session.http.post("/clipboard", content=b'{"text": "\\ud83d"}')
        assert (response.status_code, response.json()["error"]) == (400, "bad_request")


class TestRead:
    @pytest.mark.parametrize(
        "text", [text for text in TEXTS.values() if text], ids=[name for name in TEXTS if TEXTS[name]]
    )
    def test_text_of_another_program_is_read(self, session: RunningSession, text: str) -> None:
        source = session.write("source.txt", text)
        session.desktop.execute(f"xclip -selection clipboard -i {source}", shell=True)  # noqa: S604
        assert session.desktop.clipboard() == text

    def test_text_copied_by_an_editor_is_read(self, clean: RunningSession) -> None:
        clean.edit("copy.txt", "copied é中")
        clean.input({"type": "hotkey", "keys": ["ctrl", "a"]}, {"type": "hotkey", "keys": ["ctrl", "c"]})
        wait(lambda: clean.desktop.clipboard() == "copied é中", lambda: repr(clean.desktop.clipboard()))

    def test_too_long_clipboard_is_not_read(self, session: RunningSession) -> None:
        session.desktop.execute("head -c 500000 /dev/zero | tr '\\0' x | xclip -selection clipboard -i", shell=True)  # noqa: S604
        response = session.http.get("/clipboard")
        assert (response.status_code, response.json()["error"]) == (413, "too_large")

    def test_an_owner_that_hangs(self, session: RunningSession) -> None:
        session.desktop.execute("echo x | xclip -selection clipboard -i", shell=True)  # noqa: S604
        wait(lambda: session.http.get("/clipboard").json().get("text") == "x\n", "it owns the clipboard")
        session.signal_own(signal.SIGSTOP, "xclip")
        try:
            response = session.http.get("/clipboard")
            assert (response.status_code, response.json()["error"]) == (504, "timeout")
        finally:
            session.signal_own(signal.SIGKILL, "xclip")
        wait(lambda: session.http.get("/clipboard").json().get("text") == "", "the screen learns that it is gone")
