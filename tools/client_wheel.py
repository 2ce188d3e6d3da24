"""Builds the client library as a wheel of its own: the package `deskarena`, which needs nothing of the service.

`make client-wheel` writes it to dist/. Name, version and extras are those of pyproject.toml.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "deskarena"
DEPENDENCIES = ("httpx<1", "pillow")  # Later versions of httpx have another interface.
EXTRAS = ("gym", "mcp", "cube")


def project_file(project: dict[str, object], extras: dict[str, list[str]]) -> str:
    """The wheel's pyproject.toml."""
    optional = "\n".join(f"{name} = {_array(extras[name])}" for name in EXTRAS)
    return f"""[project]
name = "{PACKAGE}"
version = "{project["version"]}"
description = "Client of Deskarena: bring your own agent by DesktopEnv, Gymnasium or REST."
requires-python = "{project["requires-python"]}"
license = "{project["license"]}"
license-files = ["LICENSE"]
dependencies = {_array(DEPENDENCIES)}

[project.optional-dependencies]
{optional}

[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["{PACKAGE}"]

[tool.setuptools.package-data]
{PACKAGE} = ["py.typed"]
"""


def _array(words: tuple[str, ...] | list[str]) -> str:
    return "[" + ", ".join(f"'{word}'" if '"' in word else f'"{word}"' for word in words) + "]"


def build(target: Path) -> Path:
    """Writes the wheel into a folder; returns its path.

    Raises:
        subprocess.CalledProcessError: It cannot be built.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    with tempfile.TemporaryDirectory(prefix="deskarena-wheel-") as folder:
        source = Path(folder) / "source"
        shutil.copytree(ROOT / PACKAGE, source / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "LICENSE", source)
        (source / "pyproject.toml").write_text(project_file(settings, settings["optional-dependencies"]))
        words = ["build", "--wheel", "--no-build-isolation", "--quiet", "--out-dir", str(Path(folder) / "out")]
        subprocess.run([sys.executable, "-m", "uv", *words, str(source)], check=True)
        (wheel,) = (Path(folder) / "out").glob("*.whl")
        target.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, target))


def main() -> None:
    """Builds it and prints its path."""
    parser = argparse.ArgumentParser(description="Build the client library as a wheel.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the wheel (default: dist)")
    print(build(parser.parse_args().out))


if __name__ == "__main__":
    main()
