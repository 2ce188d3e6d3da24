"""Files of the container image of the pod of virtual machines, read from its recipe, and laid out as it would be."""

import shutil
from pathlib import Path

from tests.architecture.tree import ROOT

RECIPE = (ROOT / "vm_images" / "pod" / "Containerfile").read_text()
OURS = {"backend", "worker"}


def steps(recipe: str) -> list[tuple[str, str]]:
    """Instructions and what follows each, lines joined, comments left out."""
    lines = "\n".join(line for line in recipe.splitlines() if line and not line.startswith("#")).replace("\\\n", " ")
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in lines.splitlines()]


def copied(recipe: str) -> set[Path]:
    """Python files of the checkout that the image holds."""
    sources = [word for name, rest in steps(recipe) if name == "COPY" for word in rest.split()[:-1]]
    files = [
        path
        for source in sources
        for path in ((ROOT / source).rglob("*.py") if (ROOT / source).is_dir() else [ROOT / source])
    ]
    return {path.relative_to(ROOT) for path in files}


def lay_out(code: Path) -> None:
    """Copies those files into a folder as they lie in the image."""
    for path in copied(RECIPE):
        target = code / (path if path.parts[0] in OURS else path.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
