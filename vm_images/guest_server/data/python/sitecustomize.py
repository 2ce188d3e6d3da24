"""Runs at the start of every Python of the desktop: pyautogui, once imported, types through the session."""

import sys

TYPE_CHECKING = False  # `typing` would make every start slower.
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any


class _AfterImport:
    """Finds pyautogui as the other finders do, and replaces its keyboard once it is loaded."""

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "ModuleSpec | None":
        if name != "pyautogui":
            return None
        sys.meta_path.remove(self)
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None:
            _extend(spec.loader)
        return spec


def _extend(loader: "Any") -> None:
    execute = loader.exec_module

    def exec_module(module: "Any") -> None:
        execute(module)
        _install(module)

    loader.exec_module = exec_module


def _install(pyautogui: "Any") -> None:
    from pathlib import Path

    package = str(Path(__file__).resolve().parents[3])
    sys.path.append(package)
    try:
        from guest_server.keyboard.pyautogui_keys import install, session_keyboard

        install(pyautogui, session_keyboard())
    except (ImportError, OSError):
        return  # No session of this kind: pyautogui stays as it is.
    finally:
        sys.path.remove(package)


sys.meta_path.insert(0, _AfterImport())
