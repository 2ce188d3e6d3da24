"""Checks the manifests of deploy/k8s as an API server would, without one. Called by `make lint`.

    python -m tools.kubernetes_manifests [FOLDER ...]

A file that a kustomization names as a patch is a part of an object: nothing is missing there. Everything else is whole.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.kubernetes_schema import SchemaProblem, problems

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "deploy" / "k8s"
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml")
# Fields that kustomize accepts; it rejects unknown ones as well.
KNOWN = {
    "apiVersion", "kind", "metadata", "namespace", "namePrefix", "nameSuffix", "resources", "components",
    "patches", "images", "labels", "commonAnnotations", "configMapGenerator", "secretGenerator",
    "generatorOptions", "replicas", "replacements",
    "transformers", "generators", "configurations", "crds", "openapi", "buildMetadata", "sortOptions",
}  # fmt: skip

# Kinds that operators bring along: nothing here describes them.
FOREIGN = {"external-secrets.io/v1"}


@dataclass(frozen=True)
class ManifestFinding:
    """One problem with its place."""

    file: Path
    number: int
    problem: SchemaProblem

    def __str__(self) -> str:
        return f"{self.file} (document {self.number}): {self.problem}"


def documents(file: Path) -> list[Any]:
    """Non-empty documents of a file."""
    return [document for document in yaml.safe_load_all(file.read_text()) if document is not None]


def patches_of(kustomization: Path) -> set[Path]:
    """Files that a kustomization changes objects by."""
    contents = documents(kustomization)
    listed = (contents[0].get("patches") or []) if contents and isinstance(contents[0], dict) else []
    return {
        (kustomization.parent / patch["path"]).resolve()
        for patch in listed
        if isinstance(patch, dict) and "path" in patch
    }


def of_kustomization(file: Path) -> Iterator[ManifestFinding]:
    """Unknown words of a kustomization, and files that it names and that are not there."""
    for number, document in enumerate(documents(file), 1):
        for word in sorted(set(document) - KNOWN):
            yield ManifestFinding(file, number, SchemaProblem(word, "unknown", "is no field of a kustomization"))
        for name in [*(document.get("resources") or []), *(document.get("components") or [])]:
            if "://" not in name and not (file.parent / name).exists():
                yield ManifestFinding(file, number, SchemaProblem(name, "missing", "there is no such file"))
        for index, patch in enumerate(document.get("patches") or []):
            if "path" in patch and not (file.parent / patch["path"]).is_file():
                yield ManifestFinding(
                    file, number, SchemaProblem(f"patches[{index}].path", "missing", "there is no such file")
                )


def of_manifest(file: Path, *, whole: bool) -> Iterator[ManifestFinding]:
    """Problems of the objects in a file; JSON patches are skipped."""
    for number, document in enumerate(documents(file), 1):
        if isinstance(document, list) and not whole:
            continue
        if isinstance(document, dict) and document.get("apiVersion") in FOREIGN:
            continue
        for problem in problems(document):
            if whole or problem.kind != "missing":
                yield ManifestFinding(file, number, problem)
        if whole and isinstance(document, dict) and not (document.get("metadata") or {}).get("name"):
            yield ManifestFinding(file, number, SchemaProblem("metadata.name", "missing", "is required"))


def findings(folder: Path) -> list[ManifestFinding]:
    """Everything that is wrong below a folder."""
    files = sorted(folder.rglob("*.yaml"))
    kustomizations = [file for file in files if file.name in KUSTOMIZATIONS]
    patches = {patch for file in kustomizations for patch in patches_of(file)}
    results: list[ManifestFinding] = []
    for file in files:
        if file in kustomizations:
            results += of_kustomization(file)
        else:
            results += of_manifest(file, whole=file.resolve() not in patches)
    return results


def main() -> int:
    """Prints the problems; returns whether there are any."""
    results = [finding for folder in map(Path, sys.argv[1:] or [str(FOLDER)]) for finding in findings(folder)]
    for result in results:
        print(result)
    return 1 if results else 0


if __name__ == "__main__":
    sys.exit(main())
