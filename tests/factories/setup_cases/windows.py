"""Cases of the steps about windows and what the desktop shows."""

from collections.abc import Mapping
from typing import Any

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
        ("POST", "/setup/change_wallpaper"): lambda params: desktop.files.update(
            wall=desktop.read_file(params["path"])
        ),
        ("POST", "/setup/recycle"): lambda params: desktop.files.pop(params["path"], None),
    }
    return FakeContext(desktop)


def placed(context: FakeContext) -> FakeContext:
    """The same, where windows can be placed."""
    desktop = context.desktop

    def place_window(params: Mapping[str, Any]) -> Mapping[str, Any]:
        window = next(window for window in desktop.open_windows if window.title == params["window_name"])
        if params.get("maximized"):
            params = {"x": 0, "y": 0, "width": desktop.screen.width, "height": desktop.screen.height}
        for name in ("x", "y", "width", "height"):
            setattr(window, name, params.get(name, getattr(window, name)))
        return {"window": vars(window)}

    desktop.routes["POST", "/setup/place_window"] = place_window
    return context


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
    "perform": SetupCase(
        {"steps": [{"wait_window": "editor"}, {"type": "hello"}]},
        place,
        lambda context: context.desktop.open_windows[-1].text.endswith("hello"),
        bare=lambda: FakeContext(FakeDesktop()),
    ),
    "perturb_windows": SetupCase(
        {"how": "shrunk", "seed": 1},
        lambda: placed(place()),
        lambda context: context.desktop.open_windows[-1].width == 136,
    ),
    "recycle_file": SetupCase(
        {"path": "/home/user/old.txt"}, place, lambda context: "/home/user/old.txt" not in context.desktop.files
    ),
}
