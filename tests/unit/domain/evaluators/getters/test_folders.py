import contextlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._folders import file_names, join_path, list_folder
from backend.domain.evaluators.getters.files.folder_contents import FolderContents
from backend.domain.evaluators.metrics.goals.folder_goals import folder_goals
from backend.domain.model.score import Blob
from backend.domain.ports.desktop import ExecResult
from tests.factories.desktops import linux, real_python
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop


@pytest.fixture
def context() -> FakeContext:
    made = linux()
    made.desktop.commands["python"] = real_python
    return made


class TestListed:
    def test_files_and_folders_are_listed(self, context: FakeContext, tmp_path: Path) -> None:
        (tmp_path / "a, b 'c'.docx").write_text("x")
        (tmp_path / "ü\U0001f600.docx").write_text("x")
        (tmp_path / "sub").mkdir()
        blob = list_folder(context, str(tmp_path))
        assert file_names(blob) == ["a, b 'c'.docx", "ü\U0001f600.docx"]
        assert json.loads(blob.data or b"")["folders"] == ["sub"]

    def test_path_is_never_run_as_code(self, context: FakeContext) -> None:
        path = "'); print('\"[]\"'); ('"
        assert file_names(list_folder(context, path)) is None

    @pytest.mark.parametrize("blob", [Blob(name="x", note="no python"), Blob(name="x", data=b"[]")])
    def test_unlistable_folder_gives_no_verdict(self, blob: Blob) -> None:
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
def test_join_path_uses_the_systems_separator(folder: str, path: str) -> None:
    assert join_path(folder, "a") == path


class TestWhatAnAgentMakesOfAFolder:
    """The question must neither fail nor take what it could not see for gone."""

    def contents(self, root: Path, **names: Any) -> Any:
        """Result of `folder_contents`; its code runs here, with other meanings of some names."""

        def python(words: Sequence[str]) -> ExecResult:
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(words[0], dict(names))  # noqa: S102 - the getter's own code.
            return ExecResult(returncode=0, output=output.getvalue())

        desktop = FakeDesktop()
        desktop.commands["python"] = python
        parameters = {"path": str(root)}
        return FolderContents().read(FolderContents().collect(FakeContext(desktop), parameters), parameters, root)

    def test_truncated_listing_does_not_prove_absence(self, tmp_path: Path) -> None:
        (tmp_path / "z").mkdir()
        (tmp_path / "z" / "backup").touch()
        for number in range(600):
            (tmp_path / f"a{number}").touch()
        found = self.contents(tmp_path)
        assert "" in found
        assert folder_goals(found, {"goals": [{"absent": "z/backup"}]}).value == 0.0

    def test_unreadable_file_has_a_mode_but_no_content(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("x")

        def refuse(*_: object) -> None:
            raise PermissionError

        found = self.contents(tmp_path, open=refuse)
        assert found == {"a": {"mode": oct((tmp_path / "a").stat().st_mode & 0o777)}}
        assert folder_goals(found, {"goals": [{"present": "a", "content": "x"}]}).value == 0.0

    def test_missing_folder_is_none(self, tmp_path: Path) -> None:
        assert self.contents(tmp_path / "gone") is None
