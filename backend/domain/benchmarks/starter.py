"""`starter`: our own tasks, and any folder of tasks in the same format."""

from pathlib import Path

from backend.domain.benchmarks._osworld_format import load_folder
from backend.domain.model.task import LoadedBenchmark
from backend.domain.registry import PluginKind, register


@register(PluginKind.BENCHMARK, "starter")
class StarterReader:
    """Reads `<domain>/<name>.json`, `test_all.json`, `assets/` and `about.json`."""

    kind = "starter"

    def load(self, path: Path) -> LoadedBenchmark:
        return load_folder(path, kind=self.kind, dialect=self.kind)
