"""Cases of the steps that put files into a desktop."""

from tests.factories.setup_cases import SetupCase
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop

URL = "https://files.example/a"


def place() -> FakeContext:
    """A desktop, and a task set with one asset and one file of the web."""
    desktop = FakeDesktop()
    desktop.files["/home/user/old.txt"] = b"old"
    return FakeContext(desktop, assets={"a": b"A", URL: b"U"})


CASES = {
    "create_file": SetupCase(
        {"path": "/home/user/a.txt", "content": "a"},
        place,
        lambda context: context.desktop.files["/home/user/a.txt"] == b"a",
    ),
    "create_folder": SetupCase({"path": "/home/user/a"}, place),
    "download": SetupCase(
        {"files": [{"url": "asset:a", "path": "/home/user/a"}, {"url": URL, "path": "/home/user/b"}]},
        place,
        lambda context: context.desktop.files["/home/user/b"] == b"U",
    ),
    "generate_file": SetupCase(
        {"path": "/home/user/a.txt", "file_type": "txt", "prompts": ["包含“ready”的文本"]},
        place,
        lambda context: b"ready" in context.desktop.files["/home/user/a.txt"],
    ),
    "upload_file": SetupCase(
        {"files": [{"local_path": "a", "path": "/home/user/a"}]},
        place,
        lambda context: context.desktop.files["/home/user/a"] == b"A",
    ),
}
