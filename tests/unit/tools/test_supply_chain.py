import json
from typing import Any

import pytest

from tools.supply_chain import REQUIREMENTS, only, pinned, verdict

SOUND = {"name": "a", "version": "1", "vulns": []}
SKIPPED = {"name": "b", "skip_reason": "not found"}
BROKEN = {"name": "c", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}]}


class TestPinned:
    def test_finds_every_package_in_one_spelling(self) -> None:
        assert pinned("A.b_C[x]==1.0 \\\n    --hash=sha256:00\nd==2 ; python_version < '4'\n") == {"a-b-c", "d"}
        assert {"fastapi", "psycopg", "sqlalchemy"} <= pinned(REQUIREMENTS.read_text())


class TestOnly:
    def test_leaves_out_what_the_service_does_not_have(self) -> None:
        bill: dict[str, Any] = {
            "metadata": {"component": {"bom-ref": "root"}},
            "components": [{"bom-ref": "1", "name": "Fast.API"}, {"bom-ref": "2", "name": "pytest"}],
            "dependencies": [{"ref": "root", "dependsOn": ["1", "2"]}, {"ref": "1"}, {"ref": "2"}],
        }
        kept = only(bill, {"fast-api"})
        assert [each["bom-ref"] for each in kept["components"]] == ["1"]
        assert kept["dependencies"] == [{"ref": "root", "dependsOn": ["1"]}, {"ref": "1"}]


class TestVerdict:
    @pytest.mark.parametrize(
        ("packages", "code", "words"),
        [
            ([SOUND], 0, "1 packages"),
            ([SOUND, BROKEN], 1, "c 2: PYSEC-1, mended in 3"),
            ([SKIPPED, BROKEN], 1, "PYSEC-1"),
            ([SOUND, SKIPPED], 3, "1 of 2 packages could not be looked up: b"),
            ([], 3, "0 of 0"),
        ],
    )
    def test_packages_without_a_lookup_are_not_approved(self, packages: list[Any], code: int, words: str) -> None:
        number, lines = verdict(json.dumps({"dependencies": packages}))
        assert (number, words in "\n".join(lines)) == (code, True)

    def test_missing_report_is_unknown(self) -> None:
        assert verdict("")[0] == 3
