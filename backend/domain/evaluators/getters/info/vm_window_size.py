"""`vm_window_size`: the size of a program's window."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only, python_says
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

# Runs inside the desktop. Sizes exclude the frame: with the title bar, a maximised window would be as large as a
# full-screen one.
_SIZES = """
from Xlib import X, display, error
found = []
shown = display.Display()
root = shown.screen().root
listed = root.get_full_property(shown.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
for window in listed.value if listed else ():
    try:
        window = shown.create_resource_object("window", window)
        shape = window.get_geometry()
        found.append({"class": list(window.get_wm_class() or ()), "width": shape.width, "height": shape.height})
    except error.XError:
        pass
print(json.dumps(found))
"""


class _Window(Parameters):
    app_class_name: str


@register(PluginKind.GETTER, "vm_window_size")
class VmWindowSize(ParameterGetter):
    """`app_class_name`: the window's class, in any case. The value is `{width, height}`, None without a window."""

    Params = _Window

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        if context.desktop.probe().platform == "Linux":
            return [python_says(context, "windows", _SIZES)]
        windows = context.desktop.windows()
        window_sizes = [{"class": w.wm_class.split("."), "width": w.width, "height": w.height} for w in windows]
        return [as_json("windows", window_sizes)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        class_name = _Window.parse(parameters).app_class_name.lower()
        try:
            for window in json_value(only(blobs)):
                if class_name in (part.lower() for part in window["class"]):
                    return {"width": int(window["width"]), "height": int(window["height"])}
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise EvaluatorFailed(f"the list of windows is damaged: {error}", code="evidence_damaged") from error
        return None
