"""Getters of what authors asserted."""

import json

from tests.factories.desktops import linux
from tests.factories.getter_cases import GetterCase
from tests.factories.starter_tasks import FakeContext

PATH = "/home/user/a.txt"
LISTED = json.dumps([{"path": PATH, "folder": False, "size": 2}])


def with_file(listing: str = LISTED) -> FakeContext:
    return linux({PATH: b"ok"}, python=listing, clipboard_text="copied")


CASES = {
    "written_assertion": GetterCase(
        parameters={"expression": f'file_contains("{PATH}", "ok") && clipboard_contains("copied")'},
        found=with_file,
        value={
            "expression": f'file_contains("{PATH}", "ok") && clipboard_contains("copied")',
            "files": {PATH: [{"path": PATH, "folder": False, "copy": "{folder}/fileshomeuseratxt0/a.txt"}]},
            "clipboard": "copied",
        },
        absent=lambda: with_file("[]"),
        absent_value={
            "expression": f'file_contains("{PATH}", "ok") && clipboard_contains("copied")',
            "files": {PATH: []},
            "clipboard": "copied",
        },
    )
}
