"""`osworld`: OSWorld's tasks for Ubuntu and, from its folder `examples_windows`, those for Windows and Office.

Groups: OSWorld's paper, section 3 (Office, Daily, Professional, Workflow, OS). The paper labels difficulty by a
person's time per task, which is not published, so tasks are unlabelled until times are imported.
"""

from pathlib import Path

from backend.domain.benchmarks._labels import Suite
from backend.domain.benchmarks._suites import SuitePublication, load_suite
from backend.domain.model.task import LoadedBenchmark
from backend.domain.registry import PluginKind, register

_UBUNTU = Suite(
    name="osworld",
    groups={
        "os": "OS",
        "libreoffice_calc": "Office",
        "libreoffice_impress": "Office",
        "libreoffice_writer": "Office",
        "vlc": "Daily",
        "thunderbird": "Daily",
        "chrome": "Daily",
        "gimp": "Professional",
        "vs_code": "Professional",
        "multi_apps": "Workflow",
    },
    by_app=True,
)
_WINDOWS = Suite(
    name="osworld-windows",
    os="windows",
    groups={"excel": "Office", "word": "Office", "ppt": "Office", "multi_app": "Workflow"},
    twins={
        "excel": "libreoffice_calc",
        "word": "libreoffice_writer",
        "ppt": "libreoffice_impress",
        "multi_app": "multi_apps",
    },
    by_app=True,
)
_PUBLISHED = SuitePublication(
    kind="osworld",
    folders={"examples": _UBUNTU},
    asides={"examples_windows": _WINDOWS},
    variants={},
    licence="Apache-2.0",
    source="https://github.com/xlang-ai/OSWorld",
)


@register(PluginKind.BENCHMARK, "osworld")
class OSWorld:
    """OSWorld: from a checkout, any folder at or above its task files, or a fork in the same format."""

    kind = "osworld"

    def load(self, path: Path) -> LoadedBenchmark:
        return load_suite(path, _PUBLISHED)
