"""`make sbom`, `make audit`: packages of the service, and their known vulnerabilities.

The bill of materials is CycloneDX (JSON), made by cyclonedx-bom from the installed packages that
requirements/service.txt pins. The audit is pip-audit's. Both come into an environment of their own, `.audit-env`. Exit
codes of the audit: 0 nothing is known, 1 something is, 3 it could not be said, because the database of vulnerabilities
was not reached.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tools.separate_environment import make_environment

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements" / "service.txt"
PACKAGES = ("cyclonedx-bom==7.5.0", "pip-audit==2.10.1")
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==", re.MULTILINE)
VULNERABLE, UNKNOWN = 1, 3
MOST_SHOWN = 20


def main() -> int:
    """Writes the bill of materials, or audits; see the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("sbom", "audit"))
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "deskarena.cdx.json")
    parser.add_argument("--service", choices=("pypi", "osv"), default="osv", help="database of vulnerabilities")
    options = parser.parse_args()
    folder = make_environment(ROOT / ".audit-env", f"{sys.version_info[0]}.{sys.version_info[1]}", PACKAGES).parent
    return _sbom(folder, options.output) if options.what == "sbom" else _audit(folder, options.service)


def _sbom(programs: Path, output: Path) -> int:
    command = [str(programs / "cyclonedx-py"), "environment", "--pyproject", str(ROOT / "pyproject.toml")]
    command += [
        "--mc-type",
        "application",
        "--output-reproducible",
        "--no-validate",
        sys.prefix,
    ]  # Its validation takes 20 s.
    listing = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    bill = only(json.loads(listing.stdout), pinned(REQUIREMENTS.read_text()))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n")
    sys.stdout.write(f"{output}: {len(bill['components'])} packages\n")
    return 0


def pinned(requirements: str) -> frozenset[str]:
    """Names of the packages that a file of pins has, in PyPI's one spelling."""
    return frozenset(map(_normal, _PIN.findall(requirements)))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def only(bill: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """A bill of materials with only these packages: a checkout's environment has the tests' too."""
    components = [component for component in bill.get("components", ()) if _normal(component["name"]) in names]
    refs = {component["bom-ref"] for component in components}
    root = bill["metadata"]["component"]["bom-ref"]
    dependencies = [
        {
            **dependency,
            **(
                {"dependsOn": [ref for ref in dependency["dependsOn"] if ref in refs]}
                if "dependsOn" in dependency
                else {}
            ),
        }
        for dependency in bill.get("dependencies", ())
        if dependency["ref"] in refs or dependency["ref"] == root
    ]
    return {**bill, "components": components, "dependencies": dependencies}


def _audit(programs: Path, service: str) -> int:
    command = [str(programs / "pip-audit"), "--requirement", str(REQUIREMENTS), "--disable-pip", "--require-hashes"]
    command += ["--vulnerability-service", service, "--format", "json", "--progress-spinner", "off", "--timeout", "20"]
    result = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    code, lines = verdict(result.stdout)
    if code == UNKNOWN:
        lines += (result.stderr.strip().splitlines() or [""])[-1:]
    sys.stdout.write("\n".join(lines) + "\n")
    return code


def verdict(report: str) -> tuple[int, list[str]]:
    """Exit code and lines for a report of pip-audit; what it could not look up is never counted as sound."""
    try:
        packages = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return UNKNOWN, ["The audit has no result: the database of vulnerabilities was not reached."]
    known = [
        f"{package['name']} {package['version']}: {flaw['id']}, "
        f"mended in {', '.join(flaw['fix_versions']) or 'no release yet'}"
        for package in packages
        for flaw in package.get("vulns", ())
    ]
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    if known:
        return VULNERABLE, known
    if skipped or not packages:
        names = ", ".join(skipped[:MOST_SHOWN])
        return UNKNOWN, [f"{len(skipped)} of {len(packages)} packages could not be looked up: {names}"]
    return 0, [f"Nothing is known about the {len(packages)} packages."]


if __name__ == "__main__":
    sys.exit(main())
