"""Tests use what a module or class offers, like the product; what begins with an underscore may change at any time."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import TESTS, parsed, python_files

OF_LIBRARIES = {"_replace", "_asdict", "_fields", "_exit", "_element", "_p", "_spTree", "_obj"}
"""Members that namedtuples, os, python-docx, python-pptx and ctypes document under such names."""
INSIDE = {
    "tests/contract/test_models.py",
    "tests/contract/test_store.py",
    "tests/integration/cluster/test_draining_nodes.py",
    "tests/integration/cluster/test_hitches.py",
    "tests/integration/cluster/test_nodes.py",
    "tests/integration/cluster/test_pods.py",
    "tests/integration/cluster/test_reflector.py",
    "tests/integration/cluster/test_volumes.py",
    "tests/integration/cluster/test_warm_pool.py",
    "tests/integration/embedded/test_postgres.py",
    "tests/integration/guest_server/test_egress_tunnels.py",
    "tests/integration/k8s/test_api_trouble.py",
    "tests/integration/k8s/test_draining_nodes.py",
    "tests/integration/k8s/test_handed_on.py",
    "tests/integration/k8s/test_prewarming.py",
    "tests/integration/k8s/test_provider.py",
    "tests/integration/local/test_egress.py",
    "tests/integration/local/test_provider.py",
    "tests/integration/local/test_wine.py",
    "tests/integration/outside/test_desktop_env.py",
    "tests/integration/qemu/conftest.py",
    "tests/integration/services/events/test_broker_tls.py",
    "tests/integration/services/runs/test_config_cache.py",
    "tests/integration/services/submissions/test_submissions.py",
    "tests/integration/tools/chaos/test_stale.py",
    "tests/integration/worker/background/test_drafter.py",
    "tests/integration/worker/background/test_reevaluator.py",
    "tests/integration/worker/scheduling/test_dispatcher.py",
    "tests/integration/worker/scheduling/test_heartbeat.py",
    "tests/integration/worker/test_news.py",
    "tests/unit/cli/test_client.py",
    "tests/unit/desktops/test_wire.py",
    "tests/unit/domain/evaluators/metrics/others/test_compare_epub.py",
    "tests/unit/domain/evaluators/test_facts.py",
    "tests/unit/domain/loop/test_agent_loop.py",
    "tests/unit/egress/test_certificate_authority.py",
    "tests/unit/egress/test_gateway.py",
    "tests/unit/guest_server/linux/test_health.py",
    "tests/unit/guest_server/routes/test_folders.py",
    "tests/unit/guest_server/windows/test_modules.py",
    "tests/unit/images/windows/test_build.py",
    "tests/unit/images/windows/test_reports.py",
    "tests/unit/k8s/test_draining_nodes.py",
    "tests/unit/k8s/test_pod_watch.py",
    "tests/unit/qemu/test_accelerator.py",
    "tests/unit/qemu/test_client.py",
    "tests/unit/qemu/test_process.py",
    "tests/unit/qemu/test_slot.py",
    "tests/unit/services/artifacts/stores/test_bucket.py",
    "tests/unit/web/test_socket_lifetime.py",
    "tests/unit/worker/agents/test_agent_api_proxy.py",
    "tests/unit/worker/agents/test_container_channel.py",
    "tests/unit/worker/attempt/test_task_context.py",
    "tests/unit/worker/base/test_periodic_thread.py",
    "tests/unit/worker/commands/test_examine.py",
    "tests/unit/worker/evaluation/test_step_evaluator.py",
    "tests/unit/worker/evaluation/test_user_functions.py",
    "tests/unit/worker/perception/test_ocr.py",
    "tests/unit/worker/providers/test_image_probe_pod.py",
    "tests/unit/worker/providers/test_qemu.py",
    "tests/unit/worker/providers/test_vm_factory.py",
}
"""Files that still look inside. The list only gets shorter: whoever changes one of them goes through a door."""


def is_private(name: object) -> bool:
    """`_name`, and no `__name__`; the last part counts of `module._name`."""
    last = name.rpartition(".")[2] if isinstance(name, str) else ""
    return last.startswith("_") and not last.startswith("__") and last.isidentifier() and last not in OF_LIBRARIES


def private_members(tree: ast.Module) -> Iterator[str]:
    """Private members that code reads or replaces, without those of its own classes."""
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_private(node.attr)]
    own = {node.attr for node in attributes if ast.unparse(node.value) in {"self", "cls", "super()"}}
    yield from (ast.unparse(node) for node in attributes if node.attr not in own)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("monkeypatch.setattr", "monkeypatch.delattr")
        ):
            names = [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
            yield from (str(name) for name in names if is_private(name))


class TestPrivateMembers:
    @pytest.mark.parametrize(
        ("code", "members"),
        [
            ("provider._slots", ["provider._slots"]),
            ("monkeypatch.setattr(pods, '_plan', 1)", ["_plan"]),
            ("monkeypatch.setattr('worker.pods._plan', 1)", ["worker.pods._plan"]),
            ("pair._replace(x=1)\nslide._element\na.__class__\n_x = _f()", []),
            ("class A:\n    def f(self):\n        self._x = 1\nA()._x", []),
        ],
    )
    def test_are_found(self, code: str, members: list[str]) -> None:
        assert list(private_members(ast.parse(code))) == members


def looks_inside(path: Path) -> bool:
    """Says whether a file of the tests uses private members of others."""
    return any(private_members(parsed(path)))


class TestFiles:
    def test_go_through_doors(self) -> None:
        assert {str(path) for path in python_files(*TESTS) if looks_inside(path)} == INSIDE
