import json

import pytest

from backend.cli.errors import ExitCode
from backend.cli.main import main


class TestErrors:
    """An error is a line of text for people and an object for programs, both on stderr, with the same exit code."""

    @pytest.mark.parametrize("output", ["json", "jsonl"])
    def test_json_error_is_one_object_with_a_code(self, capsys: pytest.CaptureFixture[str], output: str) -> None:
        with pytest.raises(SystemExit) as ended:
            main(["run", "list", "-o", output, "--server", "nowhere"])
        out, err = capsys.readouterr()
        assert (ended.value.code, out) == (ExitCode.USAGE, "")
        error = json.loads(err)["error"]
        assert error["code"] == "invalid_server_address"
        assert "nowhere" in error["message"]

    def test_for_people_it_is_a_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as ended:
            main(["run", "list", "--server", "nowhere"])
        assert ended.value.code == ExitCode.USAGE
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("deskarena: ")
