from pathlib import Path

from tools.kubernetes_manifests import FOLDER, findings

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec: {template: {spec: {containers: [{name: api, imagee: x}]}}}
"""


def said(folder: Path) -> list[str]:
    return [f"{one.file.name} {one.problem}" for one in findings(folder)]


class TestFindings:
    def test_ours_have_none(self) -> None:
        assert [str(one) for one in findings(FOLDER)] == []
        assert len(list(FOLDER.rglob("*.yaml"))) > 5

    def test_a_whole_object_needs_everything(self, tmp_path: Path) -> None:
        (tmp_path / "api.yaml").write_text(DEPLOYMENT)
        assert said(tmp_path) == [
            "api.yaml spec.template.spec.containers[0].imagee: unknown field, Container has none of this name",
            "api.yaml spec.selector: is required",
        ]

    def test_a_patch_only_what_it_changes(self, tmp_path: Path) -> None:
        (tmp_path / "api.yaml").write_text(DEPLOYMENT)
        (tmp_path / "steps.yaml").write_text("- {op: remove, path: /spec}\n")
        (tmp_path / "kustomization.yaml").write_text("patches: [{path: api.yaml}, {path: steps.yaml}]\n")
        assert [line.split(":")[0] for line in said(tmp_path)] == ["api.yaml spec.template.spec.containers[0].imagee"]

    def test_a_kustomization_names_what_is_there_in_words_that_are_known(self, tmp_path: Path) -> None:
        (tmp_path / "kustomization.yaml").write_text(
            "resources: [api.yaml]\nresource: []\npatches: [{path: no.yaml}]\n"
        )
        assert said(tmp_path) == [
            "kustomization.yaml resource: is no field of a kustomization",
            "kustomization.yaml api.yaml: there is no such file",
            "kustomization.yaml patches[0].path: there is no such file",
        ]

    def test_a_name_is_needed(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: Namespace\n")
        assert said(tmp_path) == ["a.yaml metadata.name: is required"]
