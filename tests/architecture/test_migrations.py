"""An upgrade of the service takes nobody away: migrations add, or say since when nobody needs what they take."""

from pathlib import Path

import pytest

from tests.architecture.migrations import harms, scripts, sql

KNOWN = [script.revision for script in scripts()]


class TestNewMigrations:
    def test_only_add_or_say_what_they_demand(self) -> None:
        """The previous release still runs meanwhile. Either `expand = '...'` says why this is safe for it, or a
        separate migration removes things, with `contract = REVISION`: the migration known to every release that no
        longer needs them.
        """
        silent = {
            script.revision: found
            for script in scripts()
            if (found := harms(sql(script.revision, str(script.down_revision or ""))))
            and not getattr(script.module, "contract", "")
            and not getattr(script.module, "expand", "")
        }
        assert silent == {}, "docs/internals/decisions/0014-expand-and-contract.md says what to do"

    def test_revisions_are_named_after_their_files(self) -> None:
        """Release 0.2 began the history anew: a plain number is a schema of before (`backend.db.compatibility`)."""
        assert {Path(script.path).name[:4]: script.revision for script in scripts()} == {
            f"{number:04}": f"2.{number:04}" for number in range(1, len(KNOWN) + 1)
        }

    def test_a_contract_names_an_earlier_migration(self) -> None:
        contracts = {script.revision: getattr(script.module, "contract", "") for script in scripts()}
        assert [name for name, floor in contracts.items() if floor and floor not in KNOWN[: KNOWN.index(name)]] == []


class TestHarms:
    @pytest.mark.parametrize(
        "statement",
        [
            "ALTER TABLE run DROP COLUMN note",
            "DROP TABLE run",
            "ALTER TABLE run RENAME note TO remark",
            "ALTER TABLE run RENAME TO experiment",
            "ALTER TABLE run ALTER COLUMN note TYPE BIGINT",
            "ALTER TABLE run ALTER COLUMN note SET NOT NULL",
            "ALTER TABLE run ADD COLUMN note TEXT NOT NULL",
            "ALTER TABLE run ADD CONSTRAINT ck_run_note CHECK (note <> '')",
            "CREATE UNIQUE INDEX uq_run_note ON run (note)",
        ],
    )
    def test_finds_what_an_older_release_would_feel(self, statement: str) -> None:
        assert harms(f"{statement};\n\n")

    @pytest.mark.parametrize(
        "statement",
        [
            "ALTER TABLE run ADD COLUMN note TEXT",
            "ALTER TABLE run ADD COLUMN note TEXT DEFAULT '' NOT NULL",
            "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT ''",
            "CREATE TABLE note (id UUID NOT NULL);\n\nALTER TABLE note ADD CONSTRAINT ck CHECK (true)",
            "CREATE INDEX ix_run_note ON run (note)",
            "ALTER TABLE run ADD CONSTRAINT fk FOREIGN KEY(note_id) REFERENCES note (id)",
        ],
    )
    def test_lets_pass_what_only_adds(self, statement: str) -> None:
        assert harms(f"{statement};\n\n") == []

    def test_the_first_migration_makes_all_that_it_touches(self) -> None:
        statements = sql(KNOWN[0], "")
        assert "CREATE UNIQUE INDEX" in statements
        assert harms(statements) == []
