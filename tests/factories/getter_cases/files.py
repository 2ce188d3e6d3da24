"""Getters of files and folders."""

import json

from backend.domain.errors import EvaluatorFailed
from tests.factories.desktops import linux, refuses, says_no
from tests.factories.getter_cases import GetterCase
from tests.factories.starter_tasks import FakeContext
from tests.factories.workbooks import workbook
from tests.fakes.desktop import FakeDesktop

TREE = {"type": "directory", "name": "user", "children": [{"type": "file", "name": "a.txt"}]}


def with_route(route: str, answer: object) -> FakeContext:
    return linux(routes={("POST", route): answer})


def with_asset() -> FakeContext:
    return FakeContext(FakeDesktop(), assets={"a": b"A"})


def with_output() -> FakeContext:
    context = linux()
    context.keep("apt.out", b"openjdk-17-jre\n")
    return context


CASES = {
    "vm_file": GetterCase(
        parameters={"path": "/home/user/a.txt", "dest": "b.txt"},
        found=lambda: linux({"/home/user/a.txt": b"A"}),
        value="{folder}/b.txt",
        absent=linux,
    ),
    "cloud_file": GetterCase(
        parameters={"path": "asset:a", "dest": "a.txt"},
        found=with_asset,
        value="{folder}/a.txt",
    ),
    "cache_file": GetterCase(
        parameters={"path": "apt.out"},
        found=with_output,
        value="{folder}/apt.out",
        absent=linux,
        absent_value=EvaluatorFailed,
        in_desktop=False,
    ),
    "content_from_vm_file": GetterCase(
        parameters={"path": "/home/user/a.xlsx", "file_type": "xlsx", "file_content": "last_row"},
        found=lambda: linux({"/home/user/a.xlsx": workbook([["Name", "Cited"], ["Ann", 12], ["Bob", 7]])}),
        value=["Bob", "7"],
        absent=linux,
    ),
    "vm_file_exists_in_vm_folder": GetterCase(
        parameters={"folder_name": "C:\\Users\\Docker\\Downloads", "file_name": "circle.png"},
        found=lambda: with_route("/file_exists", {"status": "success"}),
        value=1.0,
        absent=lambda: with_route("/file_exists", says_no),
        absent_value=0.0,
    ),
    "list_directory": GetterCase(
        parameters={"path": "/home/user"},
        found=lambda: with_route("/list_directory", {"directory_tree": TREE}),
        value=TREE,
        absent=lambda: with_route("/list_directory", refuses("no such folder", "not_found")),
    ),
    "folder_contents": GetterCase(
        parameters={"path": "/home/user"},
        found=lambda: linux(python=json.dumps({"a.txt": {"mode": "0o644"}})),
        value={"a.txt": {"mode": "0o644"}},
        absent=lambda: linux(python="null"),
    ),
}
