"""`starter`: our own tasks, and any folder of tasks in the same format."""

from pathlib import Path

from backend.domain.benchmarks._osworld_format import load_folder
from backend.domain.model.task import LoadedBenchmark
from backend.domain.registry import Kind, register


@register(Kind.BENCHMARK, "starter")
class Starter:
    """Reads `<domain>/<name>.json`, `test_all.json`, `assets/` and `about.json`."""

    kind = "starter"

    def load(self, path: Path) -> LoadedBenchmark:
        """See the port."""
        return load_folder(path, kind=self.kind, dialect=self.kind)
