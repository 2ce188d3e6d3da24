"""Cases of the steps about windows and what the desktop shows."""

from tests.factories.setup_cases import SetupCase
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop


def place() -> FakeContext:
    """A desktop with an open editor and a file, whose guest server knows the routes."""
    desktop = FakeDesktop()
    desktop.files["/home/user/old.txt"] = b"old"
    desktop.files["/home/user/picture.png"] = b"picture"
    desktop.launch("editor")
    desktop.routes |= {
        ("POST", "/setup/close_all"): lambda _: desktop.open_windows.clear(),
        ("POST", "/setup/change_wallpaper"): lambda told: desktop.files.update(wall=desktop.read_file(told["path"])),
        ("POST", "/setup/recycle"): lambda told: desktop.files.pop(told["path"], None),
    }
    return FakeContext(desktop)


def closed(context: FakeContext) -> bool:
    """No window is left."""
    return not context.desktop.open_windows


CASES = {
    "activate_window": SetupCase({"window_name": "editor", "strict": True, "by_class": False}, place),
    "change_wallpaper": SetupCase(
        {"path": "/home/user/picture.png"}, place, lambda context: context.desktop.files["wall"] == b"picture"
    ),
    "close_all": SetupCase({}, place, closed),
    "close_window": SetupCase(
        {"window_name": "editor"}, place, closed, again=lambda context: context.desktop.launch("editor")
    ),
    "open": SetupCase(
        {"path": "/home/user/old.txt"}, place, lambda context: context.desktop.open_windows[-1].text == "old"
    ),
    "recycle_file": SetupCase(
        {"path": "/home/user/old.txt"}, place, lambda context: "/home/user/old.txt" not in context.desktop.files
    ),
}
