import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters.fileexplorer.all_png_file_names import AllPngFileNames
from backend.domain.evaluators.getters.fileexplorer.is_all_docx_in_archive import IsAllDocxInArchive
from backend.domain.evaluators.getters.fileexplorer.is_file_hidden import IsFileHidden
from backend.domain.evaluators.getters.fileexplorer.is_file_saved_desktop import IsFileSavedDesktop
from backend.domain.evaluators.getters.fileexplorer.is_files_moved_downloads import IsFilesMovedDownloads
from backend.domain.evaluators.getters.fileexplorer.vm_folder_exists_in_documents import VmFolderExistsInDocuments
from backend.domain.evaluators.getters.fileexplorer.vm_library_folders import VmLibraryFolders
from backend.domain.evaluators.getters.fileexplorer.zipped_folder_in_desktop import ZippedFolderInDesktop
from backend.domain.model.score import Blob
from tests.error_codes import raises_code
from tests.factories import archives
from tests.factories.desktops import linux, real_python, refuses, windows
from tests.factories.starter_tasks import FakeContext

NOWHERE = Path("unused")


def value(getter: Any, context: FakeContext, parameters: dict[str, Any], folder: Path = NOWHERE) -> Any:
    return getter().read(getter().collect(context, parameters), parameters, folder)


def listing(*files: str) -> Blob:
    return Blob(name="folder", data=json.dumps({"files": files, "folders": []}).encode())


class TestAllPngFileNames:
    PARAMETERS = {"file_path": "/names.txt", "folder_path": "/p"}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("text", "files", "expected"),
        [
            (b"a.png\nb.PNG\n", ("b.PNG", "a.png", "c.txt"), "true"),
            (b"b.PNG\r\na.png", ("b.PNG", "a.png"), "true"),
            (b"a.png\n", ("b.PNG", "a.png"), "false"),
            (b"a.png\n\nb.PNG", ("b.PNG", "a.png"), "false"),
            (b"", (), "true"),
            (None, ("a.png",), "false"),
        ],
    )
    def test_only_exactly_the_png_names_pass(
        self, text: bytes | None, files: tuple[str, ...], expected: str, tmp_path: Path
    ) -> None:
        blobs = [Blob(name="/names.txt", data=text, note="absent"), listing(*files)]
        assert AllPngFileNames().read(blobs, self.PARAMETERS, tmp_path) == expected


class TestIsAllDocxInArchive:
    @pytest.mark.parametrize(
        ("left", "moved", "expected"),
        [
            (("a.txt",), ("a.docx", "B.DOCX"), "true"),
            (("c.docx",), ("a.docx",), "false"),
            ((), ("a.docx", "a.txt"), "false"),
            ((), (), "false"),
            ((), ("a,b.docx",), "true"),
        ],
    )
    def test_all_moved_files_must_be_docx_by_whole_name(
        self, left: tuple[str, ...], moved: tuple[str, ...], expected: str
    ) -> None:
        blobs = [listing(*left), listing(*moved)]
        assert IsAllDocxInArchive().read(blobs, {"folder_path": "/d"}, NOWHERE) == expected

    def test_failed_listing_gives_no_verdict(self) -> None:
        with pytest.raises(EvaluatorFailed):
            IsAllDocxInArchive().read([listing(), Blob(name="a", note="python broke")], {"folder_path": "/d"}, NOWHERE)


class TestIsFileHidden:
    def test_existing_dot_file_is_hidden(self, tmp_path: Path) -> None:
        context = linux()
        context.desktop.commands["python"] = real_python
        for name in (".secret", "open"):
            (tmp_path / name).write_text("x")
        result = [
            value(IsFileHidden, context, {"file_path": str(tmp_path / name)}) for name in (".secret", "open", ".gone")
        ]
        assert result == ["true", "false", "false"]

    @pytest.mark.parametrize("python", ["1", '"true"', "null", ""])
    def test_unclear_answer_gives_no_verdict(self, python: str) -> None:
        with pytest.raises(EvaluatorFailed):
            value(IsFileHidden, windows(python=python), {"file_path": "C:\\a"})


class TestIsFileSavedDesktop:
    PARAMETERS = {"filename": "a.txt", "textcontent": "230 days"}  # noqa: RUF012

    def test_linux_desktop_folder_is_read(self, tmp_path: Path) -> None:
        routes = {("POST", "/desktop_path"): {"desktop_path": "/home/user/Desktop"}}
        context = linux({"/home/user/Desktop/a.txt": b"about 230 days"}, routes=routes)
        assert value(IsFileSavedDesktop, context, self.PARAMETERS, tmp_path) == "true"

    def test_file_with_another_text_is_false(self, tmp_path: Path) -> None:
        routes = {("POST", "/desktop_path"): {"desktop_path": "/home/user/Desktop"}}
        context = linux({"/home/user/Desktop/a.txt": b"231 days"}, routes=routes)
        assert value(IsFileSavedDesktop, context, self.PARAMETERS, tmp_path) == "false"

    def test_missing_desktop_folder_is_false(self, tmp_path: Path) -> None:
        context = linux(routes={("POST", "/desktop_path"): refuses("no such folder", "not_found")})
        assert value(IsFileSavedDesktop, context, self.PARAMETERS, tmp_path) == "false"


class TestVmFolderExistsInDocuments:
    def test_folder_is_searched_in_documents(self) -> None:
        asked: list[Any] = []

        def exists(payload: Any) -> Any:
            asked.append(payload)
            return {"status": "success"}

        routes = {
            ("POST", "/documents_path"): {"documents_path": "C:\\Users\\Docker\\Documents"},
            ("POST", "/folder_exists"): exists,
        }
        assert value(VmFolderExistsInDocuments, windows(routes=routes), {"folder_name": "MyFolder"}) is True
        assert asked == [{"path": "C:\\Users\\Docker\\Documents", "folder_name": "MyFolder"}]

    def test_missing_route_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_unreadable"):
            value(VmFolderExistsInDocuments, linux(), {"folder_name": "MyFolder"})


class TestIsFilesMovedDownloads:
    PARAMETERS = {"folder_name": "Test", "file_name": "example.txt"}  # noqa: RUF012

    def tree(self, *children: Any) -> dict[str, Any]:
        return {"type": "directory", "name": "x", "children": children}

    def of(self, left: Any, moved: Any) -> str:
        def answer(payload: Any) -> Any:
            return {"directory_tree": moved if payload["path"].endswith("OldDownloads") else left}

        context = windows(routes={("POST", "/list_directory"): answer})
        return str(value(IsFilesMovedDownloads, context, self.PARAMETERS))

    def test_moved_or_copied_folder_passes_and_flattened_file_fails(self) -> None:
        file = {"type": "file", "name": "example.txt"}
        test = {"type": "directory", "name": "Test", "children": [file]}
        assert self.of(self.tree(), self.tree(test)) == "true"
        assert self.of(self.tree(file), self.tree(test)) == "true"
        assert self.of(self.tree(test), self.tree(test)) == "false"
        assert self.of(self.tree(), self.tree(file)) == "false"
        assert self.of(self.tree(), self.tree(self.tree(test))) == "false"
        assert self.of(self.tree(), None) == "false"


class TestVmLibraryFolders:
    @pytest.mark.parametrize("reply", [{"output": "C:\\a"}, {"output": [1]}, {}, []])
    def test_answer_without_folders_gives_no_verdict(self, reply: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            value(VmLibraryFolders, windows(routes={("POST", "/library_folders"): reply}), {"library_name": "Arena"})


class TestZippedFolderInDesktop:
    @pytest.mark.parametrize(
        ("data", "password", "expected"),
        [
            (archives.LOCKED_7Z, "12345", "true"),
            (archives.LOCKED_NAMES_7Z, "12345", "true"),
            (archives.LOCKED_7Z, "1234", "false"),
            (archives.LOCKED_NAMES_7Z, "1234", "false"),
            (archives.PLAIN_7Z, "12345", "false"),
            (archives.LOCKED_7Z[:-20], "12345", "false"),
            (b"PK\x03\x04", "12345", "false"),
        ],
    )
    def test_password_and_content_of_the_archive_decide(self, data: bytes, password: str, expected: str) -> None:
        parameters = {"filename": "C:\\a.7z", "password": password}
        assert value(ZippedFolderInDesktop, windows({"C:\\a.7z": data}), parameters) == expected
