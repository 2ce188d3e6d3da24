"""Build and start of a real control plane, without its programs."""

from pathlib import Path

import pytest

from tools.real_apiserver import programs
from tools.real_apiserver.building import described, environment, stamped
from tools.real_apiserver.running import new_layout, write_files


@pytest.fixture
def layout(tmp_path: Path) -> programs.Layout:
    made = new_layout(tmp_path / "built", tmp_path / "cluster")
    write_files(made)
    return made


class TestBuilding:
    def test_build_environment_is_offline(self, tmp_path: Path) -> None:
        told = environment(tmp_path / "src/k8s.io/kubernetes", tmp_path / "cache", {"GOPROXY": "direct", "GOGC": "50"})
        assert (told["GOPATH"], told["GOPROXY"], told["GOGC"]) == (str(tmp_path), "off", "50")

    def test_tagged_packages_are_described_through_links(self, tmp_path: Path) -> None:
        for folder in ("cmd", "pkg/apis/abac", "plugin", "third_party", "staging/api/core/v1", "vendor/k8s.io"):
            (tmp_path / folder).mkdir(parents=True)
        (tmp_path / "vendor/k8s.io/api").symlink_to(tmp_path / "staging/api")
        (tmp_path / "staging/api/core/v1/doc.go").write_text("// +k8s:openapi-gen=true\npackage v1\n")
        (tmp_path / "pkg/apis/abac/doc.go").write_text("package abac\n")
        assert described(tmp_path) == ["k8s.io/kubernetes/vendor/k8s.io/api/core/v1"]

    def test_the_programs_say_their_version(self) -> None:
        assert stamped("1.20.2").endswith("version.gitVersion=v1.20.2")
        assert ".gitMinor=20 " in stamped("1.20.2")


class TestPrograms:
    def test_all_listen_on_this_machine_only(self, layout: programs.Layout) -> None:
        for command in (programs.etcd, programs.api_server, programs.controller_manager, programs.scheduler):
            words = command(layout)
            listening = [word for word in words if word.startswith(("--listen", "--bind"))]
            assert listening
            assert all("127.0.0.1" in word for word in listening)

    def test_token_files_are_private(self, layout: programs.Layout) -> None:
        files = [layout.folder / "tokens", layout.folder / "accounts.key", layout.kubeconfig("admin")]
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
        assert layout.tokens["admin"] in layout.kubeconfig("admin").read_text()
        assert layout.tokens["admin"] not in layout.kubeconfig("manager").read_text()
