import subprocess
from pathlib import Path

import pytest

from tools import check_tracked


class TestFindingsIn:
    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("index = https://" + "pypi" + ".org/simple", "package host"),
            ('"resolved": "https://' + "registry.npmjs" + '.org/x"', "package host"),
            ("cd /" + "root/project", "machine path"),
            ("cd /" + "home/anna/project", "machine path"),
            ("-----BEGIN OPENSSH PRIVATE" + " KEY-----", "private key"),
        ],
    )
    def test_finds_what_ties_the_checkout_to_a_machine(self, text: str, kind: str) -> None:
        assert [finding.kind for finding in check_tracked.findings_in(Path("a"), text)] == [kind]

    @pytest.mark.parametrize(
        "text", ["/home/user/Desktop/report.odt", "the root of the tree", "https://example.com/root/x"]
    )
    def test_leaves_the_guests_home_and_addresses_alone(self, text: str) -> None:
        assert check_tracked.findings_in(Path("a"), text) == []


class TestCheck:
    def test_looks_at_tracked_text_files_only(self, tmp_path: Path) -> None:
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        line = "see " + "pypi" + ".org\n"
        (tmp_path / "tracked.txt").write_text(line)
        (tmp_path / "picture.bin").write_bytes(b"\0" + line.encode())
        subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
        (tmp_path / "untracked.txt").write_text(line)
        assert [str(finding) for finding in check_tracked.check(tmp_path)] == [
            "tracked.txt:1: package host: " + "pypi" + ".org"
        ]
