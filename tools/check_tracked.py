"""Refuses committed files that name a package host, a machine's path or carry something like a secret.

Such names tie the checkout to one machine: a lock file with a host is useless behind another mirror, an
absolute path works for its author only.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Written in pieces, so that this file passes its own check.
HOSTS = ("pypi" + ".org", "pythonhosted" + ".org", "registry.npmjs" + ".org", "registry.yarnpkg" + ".com")
PATTERNS = {
    "package host": re.compile("|".join(re.escape(host) for host in HOSTS)),
    "machine path": re.compile(r"(?<![\w.~-])/(?:work/(?:main|shared)|root/|home/(?!user\b)[a-z]+/)"),
    "private key": re.compile("-----BEGIN [A-Z ]*PRIVATE" + " KEY-----"),
}


@dataclass(frozen=True)
class TrackedFinding:
    """One line that must not be committed."""

    path: Path
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        """In the format of compiler messages."""
        return f"{self.path}:{self.line}: {self.kind}: {self.text}"


def tracked_files(root: Path = ROOT) -> list[Path]:
    """The files git knows, relative to the root."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    return [Path(name) for name in listed.decode().split("\0") if name and (root / name).is_file()]


def findings_in(path: Path, text: str) -> list[TrackedFinding]:
    """Findings in one file's text."""
    findings = []
    for number, line in enumerate(text.splitlines(), start=1):
        for kind, pattern in PATTERNS.items():
            match = pattern.search(line)
            if match:
                findings.append(TrackedFinding(path, number, kind, match.group()))
    return findings


def check(root: Path = ROOT) -> list[TrackedFinding]:
    """Findings in all tracked text files."""
    findings: list[TrackedFinding] = []
    for path in tracked_files(root):
        data = (root / path).read_bytes()
        if b"\0" not in data[:8000]:
            findings += findings_in(path, data.decode("utf-8", "replace"))
    return findings


def main() -> int:
    """Prints the findings; 1 when there are any."""
    findings = check()
    print("\n".join(map(str, findings)) or "no host, path or key in tracked files")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
