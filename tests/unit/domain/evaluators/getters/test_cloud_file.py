from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.getters.files.cloud_file import CloudFile
from backend.domain.model.score import Blob
from tests.error_codes import raises_code
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop

A, B = "https://files.example/a.xlsx", "https://files.example/b.csv"
BOTH: dict[str, Any] = {"path": [A, B], "dest": ["a.xlsx", "a-Sheet1.csv"], "multi": True}


def context() -> FakeContext:
    return FakeContext(FakeDesktop(), assets={A: b"A", B: b"B", "own": b"O"})


def value(parameters: dict[str, Any], folder: Path) -> Any:
    return CloudFile().read(CloudFile().collect(context(), parameters), parameters, folder)


class TestCheck:
    @pytest.mark.parametrize("path", ["asset:own", A, "http://files.example/a%20b.txt"])
    def test_assets_and_addresses_are_valid_paths(self, path: str) -> None:
        CloudFile().check({"path": path, "dest": "a"})

    @pytest.mark.parametrize("path", ["own", "file:///etc/passwd", "ftp://files.example/a", "https://", "asset:"])
    def test_other_paths_are_rejected(self, path: str) -> None:
        with pytest.raises(Invalid) as wrong:
            CloudFile().check({"path": path, "dest": "a"})
        assert wrong.value.path == "path"


class TestValue:
    def test_value_is_the_path_of_the_copy(self, tmp_path: Path) -> None:
        assert Path(value({"path": A, "dest": "gold.xlsx"}, tmp_path)).read_bytes() == b"A"

    def test_several_files_return_the_first(self, tmp_path: Path) -> None:
        result = Path(value(BOTH, tmp_path))
        assert result.name == "a.xlsx"
        assert (result.parent / "a-Sheet1.csv").read_bytes() == b"B"

    def test_gives_selects_files(self, tmp_path: Path) -> None:
        result = value({**BOTH, "gives": [1, 0]}, tmp_path)
        assert [Path(one).read_bytes() for one in result] == [b"A", b"B"]


class TestMissing:
    def test_missing_file_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "invalid_reference"):
            CloudFile().collect(context(), {"path": "https://files.example/c", "dest": "c"})

    def test_missing_evidence_gives_no_verdict(self, tmp_path: Path) -> None:
        with raises_code(EvaluatorFailed, "invalid_reference"):
            CloudFile().read([Blob(name=A)], {"path": A, "dest": "a"}, tmp_path)
