import json
from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._folders import file_names, joined, listed
from backend.domain.model.score import Blob
from tests.factories.desktops import linux, real_python
from tests.factories.starter_tasks import FakeContext


@pytest.fixture
def context() -> FakeContext:
    made = linux()
    made.desktop.commands["python"] = real_python
    return made


class TestListed:
    def test_files_and_folders(self, context: FakeContext, tmp_path: Path) -> None:
        (tmp_path / "a, b 'c'.docx").write_text("x")
        (tmp_path / "ü\U0001f600.docx").write_text("x")
        (tmp_path / "sub").mkdir()
        blob = listed(context, str(tmp_path))
        assert file_names(blob) == ["a, b 'c'.docx", "ü\U0001f600.docx"]
        assert json.loads(blob.data or b"")["folders"] == ["sub"]

    def test_a_path_is_never_source(self, context: FakeContext) -> None:
        path = "'); print('\"[]\"'); ('"
        assert file_names(listed(context, path)) is None

    @pytest.mark.parametrize("blob", [Blob(name="x", note="no python"), Blob(name="x", data=b"[]")])
    def test_what_could_not_be_listed(self, blob: Blob) -> None:
        with pytest.raises(EvaluatorFailed):
            file_names(blob)


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        ("/home/user/", "/home/user/a"),
        ("C:\\Users\\Docker", "C:\\Users\\Docker\\a"),
        ("C:/Users/Docker", "C:/Users/Docker\\a"),
    ],
)
def test_joined(folder: str, path: str) -> None:
    assert joined(folder, "a") == path
