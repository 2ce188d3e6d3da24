import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.getters._files import FilesParams
from backend.domain.evaluators.getters.files.cloud_file import CloudFile
from backend.domain.evaluators.getters.files.folder_contents import FolderContents
from backend.domain.evaluators.getters.files.list_directory import ListDirectory
from backend.domain.evaluators.getters.files.vm_file import VmFile
from backend.domain.evaluators.getters.general.accessibility_tree import AccessibilityTree
from backend.domain.evaluators.getters.general.rule import RuleGetter
from backend.domain.evaluators.getters.general.vm_command_error import VmCommandError
from backend.domain.evaluators.getters.general.vm_command_line import VmCommandLine
from backend.domain.evaluators.metrics.general.check_include_exclude import check_include_exclude
from backend.domain.model.score import Blob
from backend.domain.ports.desktop import ExecResult
from tests.error_codes import raises_code
from tests.factories.desktops import linux, says_no
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop


@pytest.fixture
def desktop() -> FakeDesktop:
    made = FakeDesktop()
    made.files = {"/a.txt": b"A", "/b.txt": b"B"}
    return made


class TestFiles:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"path": "/a"},
            {"path": ["/a"], "dest": ["a"]},
            {"path": "/a", "dest": "a", "multi": True},
            {"path": ["/a", "/b"], "dest": ["a"], "multi": True},
            {"path": "/a", "dest": "a", "gives": [1]},
            {"path": [], "dest": [], "multi": True},
        ],
    )
    def test_wrong_parameters_are_refused(self, parameters: dict[str, Any]) -> None:
        with pytest.raises(Invalid):
            FilesParams.parse(parameters)

    def test_folders_in_a_name_are_dropped(self) -> None:
        assert FilesParams.parse({"path": "/a", "dest": "../../etc/passwd"}).names == ("passwd",)
        assert FilesParams.parse({"path": "/a", "dest": "..\\..\\x.txt"}).names == ("x.txt",)
        assert FilesParams.parse({"path": "/a", "dest": ".."}).names == ("file",)


class TestVmFile:
    def test_the_value_is_the_copys_path(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        parameters = {"path": "/a.txt", "dest": "mine.txt"}
        blobs = VmFile().collect(FakeContext(desktop), parameters)
        path = VmFile().read(blobs, parameters, tmp_path)
        assert Path(path).name == "mine.txt"
        assert Path(path).read_bytes() == b"A"

    def test_missing_file_is_none_with_a_note(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        parameters = {"path": "/c.txt", "dest": "c.txt"}
        blobs = VmFile().collect(FakeContext(desktop), parameters)
        assert "no such file" in blobs[0].note
        assert VmFile().read(blobs, parameters, tmp_path) is None

    def test_several_files_in_the_order_of_their_paths(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        parameters = {"path": ["/a.txt", "/b.txt"], "dest": ["x", "x"], "multi": True, "gives": [1, 0]}
        paths = VmFile().read(VmFile().collect(FakeContext(desktop), parameters), parameters, tmp_path)
        assert [Path(path).read_bytes() for path in paths] == [b"A", b"B"]

    def test_blobs_of_another_call_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            VmFile().read([], {"path": "/a", "dest": "a"}, tmp_path)


class TestCloudFile:
    def test_asset_of_the_task_set_is_returned(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        parameters = {"path": "asset:wanted.txt", "dest": "wanted.txt"}
        blobs = CloudFile().collect(FakeContext(desktop, assets={"wanted.txt": b"W"}), parameters)
        assert Path(CloudFile().read(blobs, parameters, tmp_path)).read_bytes() == b"W"

    def test_address_that_is_neither_asset_nor_url_is_refused(self) -> None:
        with raises_code(Invalid, "invalid_url", mentions="asset:NAME"):
            CloudFile().check({"path": "ftp://example.org/a", "dest": "a"})


class TestRule:
    def test_value_is_the_rules(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        parameters = {"rules": {"expected": [1, None]}}
        assert (
            RuleGetter().read(RuleGetter().collect(FakeContext(desktop), parameters), parameters, tmp_path)
            == parameters["rules"]
        )


class TestVmCommandLine:
    def test_value_is_the_commands_output(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        parameters = {"command": ["echo", "a b"]}
        blobs = VmCommandLine().collect(FakeContext(desktop), parameters)
        assert VmCommandLine().read(blobs, parameters, tmp_path) == "a b\n"

    def test_failing_command_has_output_and_a_note(self, desktop: FakeDesktop) -> None:
        blobs = VmCommandLine().collect(FakeContext(desktop), {"command": "false"})
        assert (blobs[0].data, blobs[0].note) == (b"", "exit code 1")

    def test_missing_program_is_none(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        parameters = {"command": "nonesuch"}
        blobs = VmCommandLine().collect(FakeContext(desktop), parameters)
        assert VmCommandLine().read(blobs, parameters, tmp_path) is None

    @pytest.mark.parametrize(("getter", "stream"), [(VmCommandLine, "output"), (VmCommandError, "error")])
    def test_truncated_output_gives_no_verdict(self, getter: Any, stream: str, tmp_path: Path) -> None:
        """Else an agent could write enough before what must not be there."""
        printed: dict[str, Any] = {stream: "fine"}
        parameters, values = {"command": ["look"]}, []
        for truncated in (False, True):
            context = linux()
            done = ExecResult(returncode=0, truncated=truncated, **printed)
            context.desktop.commands["look"] = lambda _, done=done: done
            values.append(getter().read(getter().collect(context, parameters), parameters, tmp_path))
        assert values == ["fine", None]
        rules = {"exclude": ["forbidden"]}
        assert [check_include_exclude(one, rules).value for one in values] == [1, 0]


class TestListDirectory:
    def test_value_is_the_tree_without_the_replys_envelope(self, tmp_path: Path) -> None:
        tree = {"type": "directory", "name": "a", "children": []}
        blob = Blob(name="/a", data=json.dumps({"directory_tree": tree}).encode())
        assert ListDirectory().read([blob], {"path": "/a"}, tmp_path) == tree

    def test_refused_listing_is_none(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        desktop.routes["POST", "/list_directory"] = says_no
        blobs = ListDirectory().collect(FakeContext(desktop), {"path": "/a"})
        assert ListDirectory().read(blobs, {"path": "/a"}, tmp_path) is None


class TestAccessibilityTree:
    def test_value_is_the_accessibility_tree(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        desktop.launch("editor")
        tree = AccessibilityTree().read(AccessibilityTree().collect(FakeContext(desktop), {}), {}, tmp_path)
        assert 'name="editor"' in tree


class TestFolderContents:
    def python(self, desktop: FakeDesktop, folder: Path) -> None:
        """Lets the desktop run the getter's script for real."""
        import subprocess
        import sys

        def run(words: Any) -> ExecResult:
            done = subprocess.run(
                [sys.executable, "-c", words[0]], capture_output=True, text=True, check=False, cwd=folder
            )
            return ExecResult(returncode=done.returncode, output=done.stdout, error=done.stderr)

        desktop.commands["python"] = run

    def test_content_and_modes_of_files_and_folders_are_listed(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        self.python(desktop, tmp_path)
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "run.sh").write_text("x")
        (tmp_path / "sub" / "run.sh").chmod(0o755)
        (tmp_path / "broken").symlink_to("nowhere")
        parameters = {"path": str(tmp_path)}
        result = FolderContents().read(FolderContents().collect(FakeContext(desktop), parameters), parameters, tmp_path)
        assert sorted(result) == ["broken", "sub/", "sub/run.sh"]
        assert result["sub/run.sh"]["mode"] == "0o755"
        assert len(result["sub/run.sh"]["sha256"]) == 64

    def test_missing_folder_is_none(self, desktop: FakeDesktop, tmp_path: Path) -> None:
        self.python(desktop, tmp_path)
        parameters = {"path": str(tmp_path / "none")}
        blobs = FolderContents().collect(FakeContext(desktop), parameters)
        assert FolderContents().read(blobs, parameters, tmp_path) is None

    def test_a_listing_that_was_cut_gives_no_verdict(self, tmp_path: Path) -> None:
        with raises_code(EvaluatorFailed, "evidence_damaged"):
            FolderContents().read([Blob(name="/a", data=b'{"a": ')], {"path": "/a"}, tmp_path)
