import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.error_codes import raises_code
from tools.kubernetes_manifests import FOREIGN
from tools.kustomize import BuildError, apply, build, identity
from tools.manifests import K8S, main, overlays, wrong

POD = {"containers": [{"name": "one", "image": "thing:1"}, {"name": "two", "image": "other"}]}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "here"},
    "spec": {"template": {"spec": POD}},
}


def written(folder: Path, objects: list[Any] | None = None, **told: Any) -> Path:
    """A kustomization of these objects."""
    folder.mkdir(parents=True, exist_ok=True)
    if objects is not None:
        (folder / "all.yaml").write_text(yaml.safe_dump_all(objects))
        told["resources"] = [*told.get("resources", []), "all.yaml"]
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(told))
    return folder


class TestBuild:
    def test_is_what_kubectl_builds(self) -> None:
        """Where kubectl is installed (1.21 or later, for components); the features themselves are tested below."""
        if shutil.which("kubectl") is None:
            return
        for folder in overlays():
            line = ["kubectl", "kustomize", str(folder)]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            if "unknown field" in done.stderr or "not found" in done.stderr:
                return
            theirs = {identity(found): found for found in yaml.safe_load_all(done.stdout)}
            assert {identity(found): found for found in build(folder)} == theirs, folder.name

    def test_outer_patches_and_images_are_applied_last(self, tmp_path: Path) -> None:
        base = written(tmp_path / "base", [DEPLOYMENT], images=[{"name": "thing", "newTag": "2"}])
        change = '[{"op": "add", "path": "/spec/replicas", "value": 3}]'
        target = {"kind": "Deployment", "name": "w.b"}
        outer = written(tmp_path / "outer", resources=["../base"], patches=[{"target": target, "patch": change}])
        (found,) = build(outer)
        assert base.exists()
        assert found["spec"]["replicas"] == 3
        assert [each["image"] for each in found["spec"]["template"]["spec"]["containers"]] == ["thing:2", "other"]

    def test_a_component_changes_what_is_there_and_adds_its_own(self, tmp_path: Path) -> None:
        settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "more", "namespace": "here"}}
        change = '[{"op": "replace", "path": "/metadata/name", "value": "site"}]'
        patch = {"target": {"kind": "Deployment"}, "patch": change}
        written(tmp_path / "part", [settings], kind="Component", patches=[patch])
        outer = written(tmp_path / "outer", [DEPLOYMENT], components=["../part"])
        assert [identity(found) for found in build(outer)] == [
            ("Deployment", "here", "site"),
            ("ConfigMap", "here", "more"),
        ]

    @pytest.mark.parametrize(
        "told",
        [
            {"namePrefix": "x-"},
            {"resources": ["nothing.yaml"]},
            {"components": ["../outer"]},
            {"patches": [{"target": {"kind": "Job"}, "patch": "[]"}]},
        ],
    )
    def test_unsupported_fields_are_rejected(self, tmp_path: Path, told: dict[str, Any]) -> None:
        with pytest.raises(BuildError):
            build(written(tmp_path / "outer", **told))

    def test_two_of_one_name_are_refused(self, tmp_path: Path) -> None:
        with raises_code(BuildError, "object_repeated"):
            build(written(tmp_path / "outer", [DEPLOYMENT, DEPLOYMENT]))


class TestApply:
    def test_add_replace_remove(self) -> None:
        found = {"metadata": {"name": "x", "labels": {"a/b": "1"}}, "list": [1, 3]}
        apply(found, {"op": "add", "path": "/list/1", "value": 2})
        apply(found, {"op": "add", "path": "/list/-", "value": 4})
        apply(found, {"op": "replace", "path": "/metadata/labels/a~1b", "value": "2"})
        apply(found, {"op": "remove", "path": "/list/0"})
        assert found == {"metadata": {"name": "x", "labels": {"a/b": "2"}}, "list": [2, 3, 4]}

    @pytest.mark.parametrize("op", ["replace", "remove"])
    def test_patches_of_absent_fields_are_rejected(self, op: str) -> None:
        with raises_code(BuildError, "path_missing", mentions=("/spec/replicas", "x")):
            apply({"metadata": {"name": "x"}, "spec": {}}, {"op": op, "path": "/spec/replicas", "value": 1})


class TestManifests:
    def test_overlays_match_the_api_schema(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main() == 0, capsys.readouterr().out
        assert len(overlays()) >= 5

    def test_every_component_is_too(self) -> None:
        parts = [path.parent for path in K8S.glob("components/*/kustomization.yaml")]
        paths = [path for part in parts for path in part.glob("*.yaml")]
        files = [found for path in paths for found in yaml.safe_load_all(path.read_text())]
        objects = [found for found in files if found["kind"] != "Component"]
        assert wrong(objects) == []
        assert {found["apiVersion"] for found in objects} & FOREIGN == FOREIGN

    def test_a_wrong_field_is_found(self) -> None:
        document = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"portz": []}}
        assert any("portz" in line for line in wrong([document]))
