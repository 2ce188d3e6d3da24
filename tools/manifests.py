"""Builds every overlay of deploy/k8s and checks each object against the Kubernetes API's own description.

Run as `python -m tools.manifests`; part of `make lint`. Prints what is wrong, one line each.
"""

import sys
from pathlib import Path

from tools.kubernetes_manifests import FOREIGN
from tools.kubernetes_schema import problems
from tools.kustomize import BuildError, Json, build, identity

ROOT = Path(__file__).resolve().parent.parent
K8S = ROOT / "deploy" / "k8s"


def overlays() -> list[Path]:
    """Every overlay's folder."""
    return sorted(path.parent for path in (K8S / "overlays").glob("*/kustomization.yaml"))


def wrong(objects: list[Json]) -> list[str]:
    """Problems for which the API would reject the manifest."""
    return [
        f"{' '.join(identity(obj))}: {problem}"
        for obj in objects
        if obj["apiVersion"] not in FOREIGN
        for problem in problems(obj)
    ]


def main() -> int:
    """Returns how many overlays are wrong."""
    failed = 0
    for folder in overlays():
        try:
            lines = wrong(build(folder))
        except BuildError as error:
            lines = [str(error)]
        failed += bool(lines)
        for line in lines:
            sys.stdout.write(f"{folder.name}: {line}\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
