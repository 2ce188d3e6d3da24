"""`waa`: WindowsAgentArena's tasks; a second folder has them without the steps that open applications.

Groups and mean difficulty per domain (1 easy to 3 hard, rated by the person who performed the tasks):
WindowsAgentArena's paper, table 6. The paper rates no single task.
"""

from pathlib import Path

from backend.domain.benchmarks._labels import Suite
from backend.domain.benchmarks._suites import SuitePublication, load_suite
from backend.domain.model.task import LoadedBenchmark
from backend.domain.registry import PluginKind, register

_GROUPS = {
    "libreoffice_calc": ("Office", 2.0),
    "libreoffice_writer": ("Office", 1.9),
    "chrome": ("Web", 1.9),
    "msedge": ("Web", 1.9),
    "file_explorer": ("Windows System", 1.6),
    "settings": ("Windows System", 1.6),
    "vs_code": ("Coding", 2.1),
    "vlc": ("Media", 2.4),
    "notepad": ("Windows Utilities", 1.3),
    "clock": ("Windows Utilities", 1.3),
    "microsoft_paint": ("Windows Utilities", 1.3),
    "windows_calc": ("Windows Utilities", 1.3),
}
_SUITE = Suite(
    name="waa",
    os="windows",
    groups={domain: group for domain, (group, _) in _GROUPS.items()},
    ratings={domain: rating for domain, (_, rating) in _GROUPS.items()},
    by_app=True,
)
_PUBLISHED = SuitePublication(
    kind="waa",
    folders={"examples": _SUITE},
    asides={
        "examples_noctxt": Suite(
            name=_SUITE.name,
            os=_SUITE.os,
            groups=_SUITE.groups,
            ratings=_SUITE.ratings,
            by_app=True,
            facts={"context": "none"},
        )
    },
    variants={"examples_noctxt": ("context", "none")},
    licence="MIT",
    source="https://github.com/microsoft/WindowsAgentArena",
)


@register(PluginKind.BENCHMARK, "waa")
class WAA:
    """WindowsAgentArena: from a checkout, any folder at or above its task files, or a fork in the same format."""

    kind = "waa"

    def load(self, path: Path) -> LoadedBenchmark:
        return load_suite(path, _PUBLISHED)
