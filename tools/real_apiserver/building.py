"""Builds the programs of a control plane from a Kubernetes source tree, offline, with what the tree vendors."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_OPENAPI = Path("pkg/generated/openapi")
_TAG = b"+k8s:openapi-gen="
_VERSION = "k8s.io/kubernetes/vendor/k8s.io/component-base/version"
_LEFT_OUT = ("code-generator", "sample-apiserver")


def environment(tree: Path, cache: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """Environment of the Go tools: no downloads, with the tree at GOPATH/src/k8s.io/kubernetes.

    Args:
        tree: GOPATH/src/k8s.io/kubernetes.
        cache: folder of what was compiled.
        inherited: other variables, such as GOMAXPROCS.
    """
    fixed = {"GO111MODULE": "off", "GOPROXY": "off", "GOFLAGS": "", "CGO_ENABLED": "0"}
    return {**inherited, **fixed, "GOPATH": str(tree.parents[2]), "GOCACHE": str(cache)}


def described(tree: Path) -> list[str]:
    """Packages of the API's schema; those of `vendor/k8s.io` are links into `staging`."""
    tops = [tree / top for top in ("cmd", "pkg", "plugin", "third_party")]
    tops += [folder for folder in (tree / "vendor/k8s.io").iterdir() if folder.name not in _LEFT_OUT]
    packages = set()
    for top in tops:
        for folder, _, names in os.walk(top):
            if any(_TAG in (Path(folder) / name).read_bytes() for name in names if name.endswith(".go")):
                packages.add(f"k8s.io/kubernetes/{Path(folder).relative_to(tree)}")
    return sorted(packages)


def describe(tree: Path, generator: Path, env: Mapping[str, str]) -> None:
    """Writes the description, which source packages leave out, into the tree."""
    command = [
        str(generator), "--logtostderr", "-i", ",".join(described(tree)), "-p", f"k8s.io/kubernetes/{_OPENAPI}",
        "-O", "zz_generated.openapi", "-h", "vendor/k8s.io/code-generator/hack/boilerplate.go.txt",
        "-r", str(generator.with_name("violations")),
    ]  # fmt: skip
    subprocess.run(command, cwd=tree, env=dict(env), check=True)


def stamped(version: str) -> str:
    """Linker flags that set the programs' version, such as 1.20.2."""
    major, minor, _ = version.split(".")
    fields = {"gitMajor": major, "gitMinor": minor, "gitVersion": f"v{version}"}
    return " ".join(("-s -w", *(f"-X {_VERSION}.{name}={value}" for name, value in fields.items())))


def build(tree: Path, into: Path, version: str, *, jobs: int = 1) -> None:
    """Builds everything into a folder. Some minutes of processor time. Raises CalledProcessError."""
    into.mkdir(parents=True, exist_ok=True)
    env = environment(tree, into / "cache", os.environ)

    def compile_(package: str) -> None:
        command = ["go", "build", "-p", str(jobs), "-ldflags", stamped(version), "-o", f"{into}/", package]
        subprocess.run(command, cwd=tree, env=env, check=True)

    if not (tree / _OPENAPI / "zz_generated.openapi.go").exists():
        compile_("./vendor/k8s.io/kube-openapi/cmd/openapi-gen")
        describe(tree, into / "openapi-gen", env)
    for name in PROGRAMS:
        compile_(f"./cmd/{name}")
