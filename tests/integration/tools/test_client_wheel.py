"""The client library as a wheel: what is in it, and that it works where nothing else is installed."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.integration.cli.service import serving
from tools.client_wheel import build

USE = """
import importlib.util
import deskarena.desktop_env, deskarena.episode, deskarena.gym
from deskarena.client import Client
assert importlib.util.find_spec("backend") is None
print(list(Client("{url}", "t").items("/benchmarks")))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))


class TestWheel:
    def test_has_the_package_alone(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        assert {name.partition("/")[0].partition("-")[0] for name in names} == {"deskarena"}
        assert {"deskarena/py.typed", "deskarena/client.py", "deskarena/gym.py"} <= set(names)
        needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra" not in line]
        assert needed == ["Requires-Dist: httpx<1", "Requires-Dist: pillow"]

    @pytest.mark.long
    def test_works_in_an_empty_environment(self, wheel: Path, tmp_path: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
        python = tmp_path / "bin" / "python"
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", f"{wheel}[gym]"], check=True)
        with serving({"GET /api/v1/benchmarks": {"items": [{"name": "starter"}], "next": None}}) as service:
            done = subprocess.run(
                [str(python), "-I", "-c", USE.format(url=service.url)], capture_output=True, text=True, check=False
            )
        assert (done.stdout, done.stderr) == ("[{'name': 'starter'}]\n", "")
