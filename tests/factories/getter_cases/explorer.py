"""Getters of Windows' File Explorer and of the folders that it shows."""

import json
from collections.abc import Callable
from typing import Any

from backend.domain.ports.desktop import ExecResult
from tests.factories.archives import LOCKED_7Z
from tests.factories.desktops import says_no, windows
from tests.factories.getter_cases import GetterCase
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeWindow

HOME = "C:\\Users\\Docker"
FOUND = {"status": "success", "message": "yes"}


def answering(**routes: Any) -> FakeContext:
    answers = {"desktop_path": {"desktop_path": f"{HOME}\\Desktop"}} | routes
    answers = {"documents_path": {"documents_path": f"{HOME}\\Documents"}} | answers
    return windows(routes={("POST", f"/{route}"): answer for route, answer in answers.items()})


def check(route: str, parameters: dict[str, Any], *, yes: Any = True, no: Any = False) -> GetterCase:
    """A check that one route answers."""
    return GetterCase(
        parameters=parameters,
        found=lambda: answering(**{route: FOUND}),
        value=yes,
        absent=lambda: answering(**{route: says_no}),
        absent_value=no,
    )


def saved(text: bytes | None) -> Callable[[], FakeContext]:
    def made() -> FakeContext:
        context = answering()
        context.desktop.files = {} if text is None else {f"{HOME}\\Desktop\\report.txt": text}
        return context

    return made


def listings(*listings: Any) -> Callable[[], FakeContext]:
    """A desktop whose Python answers with these listings in turn."""

    def made() -> FakeContext:

        answers = iter(listings)
        context = windows({f"{HOME}\\Pictures\\names.txt": b"b.png\r\na.PNG\r\n"})
        context.desktop.commands["python"] = lambda _: ExecResult(returncode=0, output=json.dumps(next(answers)))
        return context

    return made


def folder(*files: str) -> dict[str, list[str]]:
    return {"files": list(files), "folders": []}


def moved(*, done: bool) -> Callable[[], FakeContext]:
    test = {"type": "directory", "name": "Test", "children": [{"type": "file", "name": "example.txt"}]}
    empty: dict[str, Any] = {"type": "directory", "name": "x", "children": []}
    full = {"type": "directory", "name": "x", "children": [test]}

    def tree(payload: Any) -> Any:
        old = payload["path"].endswith("OldDownloads")
        return {"directory_tree": full if old == done else empty}

    return lambda: answering(list_directory=tree)


CASES = {
    "is_details_view": check("is_details_view", {"folder_path": f"{HOME}\\Documents"}),
    "are_files_sorted_by_modified_time": check(
        "are_files_sorted_by_modified_time", {"directory": f"{HOME}\\Documents"}
    ),
    "is_directory_read_only_for_user": check(
        "is_directory_read_only_for_user", {"directory": f"{HOME}\\Pictures", "user": "TestAccount"}
    ),
    "are_all_images_tagged": check("are_all_images_tagged", {"directory": f"{HOME}\\Pictures", "tag": "2023"}),
    "check_if_timer_started": check(
        "check_if_timer_started", {"hours": 0, "minutes": 30, "seconds": 0}, yes="True", no="False"
    ),
    "check_if_world_clock_exists": check(
        "check_if_world_clock_exists", {"city": "Kyoto", "country": "Japan"}, yes="True", no="False"
    ),
    "vm_file_exists_in_desktop": check("file_exists", {"file_name": "a.lnk"}),
    "vm_folder_exists_in_documents": check("folder_exists", {"folder_name": "MyFolder"}),
    "is_file_desktop": check("file_exists", {"filename": "a.txt"}, yes="true", no="false"),
    "vm_library_folders": GetterCase(
        parameters={"library_name": "Arena"},
        found=lambda: answering(library_folders={"status": "success", "output": ["C:\\b", "C:\\a"]}),
        value=["C:\\a", "C:\\b"],
        absent=lambda: answering(library_folders=says_no),
    ),
    "is_file_saved_desktop": GetterCase(
        parameters={"filename": "report.txt", "textcontent": "230 days"},
        found=saved("230 days\r\n".encode("utf-16")),
        value="true",
        absent=saved(None),
        absent_value="false",
    ),
    "is_file_hidden": GetterCase(
        parameters={"file_path": f"{HOME}\\Documents\\secret.txt"},
        found=lambda: windows(python="true"),
        value="true",
        absent=lambda: windows(python="false"),
        absent_value="false",
    ),
    "all_png_file_names": GetterCase(
        parameters={"folder_path": f"{HOME}\\Pictures", "file_path": f"{HOME}\\Pictures\\names.txt"},
        found=listings(folder("a.PNG", "b.png", "names.txt")),
        value="true",
        absent=listings(folder("a.PNG", "b.png", "c.png")),
        absent_value="false",
    ),
    "is_all_docx_in_archive": GetterCase(
        parameters={"folder_path": "C:/Users/Docker/Documents"},
        found=listings(folder("a.txt"), folder("a.docx", "b.DOCX")),
        value="true",
        absent=listings(folder("a.txt"), None),
        absent_value="false",
    ),
    "is_files_moved_downloads": GetterCase(
        parameters={"folder_name": "Test", "file_name": "example.txt"},
        found=moved(done=True),
        value="true",
        absent=moved(done=False),
        absent_value="false",
    ),
    "zipped_folder_in_desktop": GetterCase(
        parameters={"filename": f"{HOME}\\Desktop\\Old.7z", "password": "12345"},
        found=lambda: windows({f"{HOME}\\Desktop\\Old.7z": LOCKED_7Z}),
        value="true",
        absent=windows,
        absent_value="false",
    ),
    "vm_active_window_title": GetterCase(
        parameters={},
        found=lambda: windows(open_windows=[FakeWindow(title="Other"), FakeWindow(title="Documents")]),
        value="Documents",
        absent=windows,
        absent_value="",
    ),
}
