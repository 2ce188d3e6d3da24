"""Builds a control plane and runs it with scripted nodes until the given command ends.

python -m tools.real_apiserver build TREE PROGRAMS 1.20.2    TREE: GOPATH/src/k8s.io/kubernetes
python -m tools.real_apiserver run PROGRAMS FOLDER -- COMMAND...      with KUBECONFIG set; its exit code
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.kubernetes.behaviours import running
from tests.fakes.kubernetes.remote import scripted_nodes
from tools.real_apiserver.building import build
from tools.real_apiserver.running import control_plane


def run(built: Path, folder: Path, command: list[str]) -> int:
    """Runs a command with a cluster of one scripted node; returns its exit code."""
    with control_plane(built, folder) as layout:
        file = layout.kubeconfig("admin")
        with scripted_nodes(file) as nodes:
            nodes.kubelets.default = running(lines=("hello",))
            nodes.add_node("node-1")
            return subprocess.run(command, env={**os.environ, "KUBECONFIG": str(file)}, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.real_apiserver")
    commands = parser.add_subparsers(required=True, dest="what")
    making, using = commands.add_parser("build"), commands.add_parser("run")
    making.add_argument("tree", type=Path)
    making.add_argument("programs", type=Path)
    making.add_argument("version", help="of the source, such as 1.20.2")
    making.add_argument("--jobs", type=int, default=1, help="packages that are compiled at once")
    using.add_argument("programs", type=Path)
    using.add_argument("folder", type=Path)
    using.add_argument("command", nargs="+")
    options = parser.parse_args()
    if options.what == "run":
        return run(options.programs.resolve(), options.folder.resolve(), options.command)
    build(options.tree.resolve(), options.programs.resolve(), options.version, jobs=options.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
