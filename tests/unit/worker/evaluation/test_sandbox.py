from dataclasses import replace
from pathlib import Path

import pytest

from backend.services.capacity.worker_capabilities import runs_functions
from worker.evaluation.limits import OWN_UID, ChildLimits
from worker.evaluation.sandbox import Sandbox, SandboxPaths, command, here

PLACE = SandboxPaths("/opt/py/bin/python", Path("/srv/app"), (Path("/opt/py"), Path("/srv/app/backend")))
BLOBS = Path("/var/blobs")


def built(sandbox: Sandbox, *, root: bool) -> list[str]:
    return command(sandbox, PLACE, BLOBS, ChildLimits(), root=root)


class TestCommand:
    def test_root_with_bubblewrap_becomes_another_user_and_keeps_only_the_right_to_do_so(self) -> None:
        words = built(Sandbox.BWRAP_OWN_USER, root=True)
        assert words[-3:] == ["--uid", str(OWN_UID), "--foreign"]
        assert words[words.index("--cap-drop") : words.index("--cap-drop") + 6] == [
            "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID",
        ]  # fmt: skip
        assert "--unshare-net" in words

    def test_unprivileged_user_unshares_all_namespaces(self) -> None:
        words = built(Sandbox.BWRAP, root=False)
        assert "--unshare-all" in words
        assert "--uid" not in words

    def test_mounts_are_read_only(self) -> None:
        words = built(Sandbox.BWRAP, root=False)
        assert "--bind" not in words
        bound = [words[i + 2] for i, word in enumerate(words) if word.startswith("--ro-bind")]
        assert bound[-3:] == ["/opt/py", "/srv/app/backend", "/evidence"]

    def test_only_vmstat_of_proc_is_mounted(self) -> None:
        words = built(Sandbox.BWRAP, root=False)
        assert [word for word in words if word.startswith("/proc")] == ["/proc/vmstat"] * 2
        assert "--proc" not in words

    @pytest.mark.parametrize("sandbox", list(Sandbox))
    def test_foreign_code_runs_only_where_the_hosts_files_are_out_of_sight(self, sandbox: Sandbox) -> None:
        assert ("--foreign" in built(sandbox, root=True)) is sandbox.has_view
        assert runs_functions({"evaluators": {"sandbox": sandbox.value}}) is sandbox.has_view

    def test_the_environment_is_cleared(self) -> None:
        assert "--clearenv" in built(Sandbox.BWRAP, root=False)

    def test_compiled_files_are_mounted_read_only(self) -> None:
        words = command(Sandbox.BWRAP, replace(PLACE, compiled=Path("/data/pyc")), BLOBS, ChildLimits(), root=False)
        at = words.index("/data/pyc")
        assert words[at - 1 : at + 2] == ["--ro-bind-try", "/data/pyc", "/compiled"]
        assert words[words.index("PYTHONPYCACHEPREFIX") + 1] == "/compiled"

    def test_unshare_also_removes_the_network(self) -> None:
        assert built(Sandbox.UNSHARE, root=True)[:7] == [
            "unshare", "--net", "--ipc", "--pid", "--fork", "--kill-child", "/opt/py/bin/python",
        ]  # fmt: skip
        assert "-Ur" in built(Sandbox.UNSHARE, root=False)

    @pytest.mark.parametrize("sandbox", [Sandbox.UNSHARE_OWN_USER, Sandbox.OWN_USER])
    def test_root_without_bubblewrap_becomes_another_user_all_the_same(self, sandbox: Sandbox) -> None:
        assert built(sandbox, root=True)[-2:] == ["--uid", str(OWN_UID)]

    def test_limits_mode_runs_the_child_directly(self) -> None:
        assert built(Sandbox.LIMITS, root=False)[:4] == ["/opt/py/bin/python", "-P", "-m", "worker.evaluation.child"]


class TestHere:
    def test_is_this_interpreter_with_our_two_packages(self) -> None:
        place = here()
        assert [path.name for path in place.readable[-2:]] == ["backend", "worker"]
        assert place.code == place.readable[-1].parent
