"""Check of the cluster for the `k8s` provider, done by the worker's own code."""

import json
import subprocess
import sys

from backend.cli.doctor.check import CheckState, CheckWords, DoctorCheck, first_line

SECONDS = 60.0
K8S = CheckWords(
    name="k8s",
    works="virtual machines can run in pods of the cluster",
    lacks="no desktops in a cluster",
    install="see docs/deploy-kubernetes.md",
)


def k8s() -> DoctorCheck:
    """Checks the configured cluster, if there is one."""
    words = [sys.executable, "-P", "-m", "worker.k8s.preflight"]
    try:
        result = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return K8S.broken(f"the check of the cluster failed: {error}")
    if result.returncode != 0:
        return K8S.broken(first_line("\n".join(reversed(result.stderr.splitlines()))))
    return read(result.stdout)


def read(text: str) -> DoctorCheck:
    """Output of `worker.k8s.preflight` as a check."""
    fields = json.loads(text)
    state = CheckState(fields["state"])
    means = K8S.works if state is CheckState.OK else K8S.lacks
    return DoctorCheck(name=K8S.name, state=state, detail=fields["detail"], means=means, install=fields["install"])
