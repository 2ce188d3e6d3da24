import sys
from pathlib import Path

from backend.cli.images import ROOT, ask, builder, environment, preparer, run

DATA = Path("/data")
PLAIN = {"PATH": "/bin"}


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


class TestBuilder:
    def test_hands_on_the_builders_own_options(self) -> None:
        words = ["--iso", "a b.iso", "--help"]
        assert builder("windows", DATA, words) == (
            *(sys.executable, "-P", "-m", "worker.images.windows"),
            *("--data", "/data", "--iso", "a b.iso", "--help"),
        )


class TestPreparer:
    def test_names_image_and_screen(self) -> None:
        words = (sys.executable, "-P", "-m", "worker.commands.prepare_image", "debian", "--screen", "1280x800")
        assert preparer("debian", (1280, 800)) == words


class TestEnvironment:
    def test_option_overrides_the_variable(self) -> None:
        assert environment(DATA, {"DESKARENA_ACCELERATOR": "kvm"}, "tcg")["DESKARENA_ACCELERATOR"] == "tcg"
        assert environment(DATA, {"DESKARENA_ACCELERATOR": "kvm"}, None)["DESKARENA_ACCELERATOR"] == "kvm"

    def test_is_the_callers_with_our_code_and_the_data_folder(self) -> None:
        outer = {"PATH": "/bin", "http_proxy": "http://p", "DESKARENA_DATA_DIR": "/other", "PYTHONPATH": "/x"}
        assert environment(DATA, outer, None) == {
            "PATH": "/bin",
            "http_proxy": "http://p",
            "DESKARENA_DATA_DIR": "/data",
            "PYTHONPATH": str(ROOT),
        }


class TestRun:
    def test_ends_with_the_childs_code(self) -> None:
        assert run(python("raise SystemExit(5)"), PLAIN) == 5

    def test_an_interrupted_one_is_130(self) -> None:
        ended = "import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGINT)"
        assert run(python(ended), PLAIN) == 130


class TestAsk:
    def test_returns_the_output(self) -> None:
        assert ask(python("print('{}')"), PLAIN) == (0, "{}\n")
