import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.general.run_sqlite3 import run_sqlite3
from backend.domain.formats import sqlite
from tests.factories.sqlite import database, starred

THUNDERBIRD = (
    "SELECT COALESCE((SELECT COUNT(*) FROM messageAttributes WHERE attributeID = 58 AND value = 1 AND messageID IN "
    "(SELECT id FROM messages WHERE folderID = 13)), 0) = (SELECT COUNT(*) FROM messages WHERE folderID = 13);"
)


class TestRunSqlite3:
    def test_published_statement_is_run(self, tmp_path: Path) -> None:
        """OSWorld dd84e895: every message of a folder has a star."""
        assert run_sqlite3(starred(tmp_path / "a", stars=3), {"sql": THUNDERBIRD}).value == 1.0
        assert run_sqlite3(starred(tmp_path / "b", stars=2), {"sql": THUNDERBIRD}).value == 0.0

    @pytest.mark.parametrize(
        ("sql", "value"),
        [("SELECT 5", 1.0), ("SELECT 0.25", 0.25), ("SELECT NULL", 0.0), ("SELECT 'x'", 0.0), ("SELECT -1", 0.0)],
    )
    def test_result_is_clamped_to_a_score(self, tmp_path: Path, sql: str, value: float) -> None:
        assert run_sqlite3(starred(tmp_path / "a", stars=3), {"sql": sql}).value == value

    def test_statement_without_a_row_scores_0(self, tmp_path: Path) -> None:
        assert (
            run_sqlite3(starred(tmp_path / "a", stars=3), {"sql": "SELECT 1 FROM messages WHERE id = 99"}).value == 0.0
        )

    def test_missing_table_scores_0(self, tmp_path: Path) -> None:
        result = run_sqlite3(
            database(tmp_path / "a", ["CREATE TABLE other (x)"]), {"sql": "SELECT COUNT(*) FROM messages"}
        )
        assert result.value == 0.0
        assert "no such table" in result.reasons[0]

    def test_database_in_wal_mode_is_read_without_writing(self, tmp_path: Path) -> None:
        path = database(tmp_path / "a", ["CREATE TABLE t (x)", "INSERT INTO t VALUES (1)"], wal=True)
        assert run_sqlite3(path, {"sql": "SELECT COUNT(*) FROM t"}).value == 1.0
        assert not (tmp_path / "a-shm").exists()

    @pytest.mark.parametrize("sql", ["SELEKT 1", "SELECT (", "SELECT nothing()", "SELECT 1; SELECT 2", None])
    def test_invalid_statement_gives_no_verdict(self, tmp_path: Path, sql: str | None) -> None:
        with pytest.raises(EvaluatorFailed):
            run_sqlite3(starred(tmp_path / "a", stars=3), {"sql": sql})

    def test_published_a_wrong_statement_is_0(self, tmp_path: Path) -> None:
        path = starred(tmp_path / "a", stars=3)
        assert run_sqlite3(path, {"sql": "SELEKT 1"}, strict_upstream=True).value == 0.0

    @pytest.mark.parametrize(
        "body",
        [
            "SELECT (",
            "SELEKT 1",
            "SELECT nothing() AS id",
            "SELECT mess() AS id",  # part of a word of the statement
            "SELECT json('syntax error') AS id",
            "SELECT id FROM words WHERE words MATCH '\"'",  # the index says: syntax error
        ],
    )
    def test_broken_view_scores_0(self, tmp_path: Path, body: str) -> None:
        words = "CREATE VIRTUAL TABLE words USING fts5(id)"
        path = database(tmp_path / "a", ["CREATE VIEW messages AS SELECT 1 AS id", words])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(
                "UPDATE sqlite_schema SET sql = ? WHERE name = 'messages'", (f"CREATE VIEW messages AS {body}",)
            )
            connection.commit()
        assert run_sqlite3(path, {"sql": "SELECT COUNT(*) FROM messages"}).value == 0.0

    @pytest.mark.parametrize(
        "sql",
        [
            "DELETE FROM messages",
            "ATTACH 'other' AS o",
            "PRAGMA journal_mode=DELETE",
            "SELECT load_extension('x')",
            "VACUUM",
        ],
    )
    def test_all_but_reading_is_refused(self, tmp_path: Path, sql: str) -> None:
        path = starred(tmp_path / "a", stars=3)
        before = Path(path).read_bytes()
        assert run_sqlite3(path, {"sql": sql}).value == 0.0
        assert Path(path).read_bytes() == before
        assert [one.name for one in tmp_path.iterdir()] == ["a"]

    def test_endless_view_is_stopped(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite, "MAX_SECONDS", 0.2)
        numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
        endless = f"CREATE VIEW messages AS {numbers} SELECT x AS id FROM n"  # noqa: S608 - a view of our own
        result = run_sqlite3(database(tmp_path / "a", [endless]), {"sql": "SELECT COUNT(*) FROM messages"})
        assert result.value == 0.0
        assert "interrupted" in result.reasons[0]

    def test_oversized_value_scores_0(self, tmp_path: Path) -> None:
        view = f"CREATE VIEW messages AS SELECT zeroblob({2**30}) AS id"
        assert (
            run_sqlite3(database(tmp_path / "a", [view]), {"sql": "SELECT length(hex(id)) FROM messages"}).value == 0.0
        )

    def test_damaged_page_scores_0(self, tmp_path: Path) -> None:
        path = starred(tmp_path / "a", stars=3, messages=300, body="x" * 500)
        data = bytearray(Path(path).read_bytes())
        data[8192:] = b"\xff" * (len(data) - 8192)
        Path(path).write_bytes(bytes(data))
        assert run_sqlite3(path, {"sql": "SELECT COUNT(*) FROM messages WHERE body LIKE '%x%'"}).value == 0.0

    def test_test_factory_writes_a_database_that_sqlite_reads(self, tmp_path: Path) -> None:
        with closing(sqlite3.connect(starred(tmp_path / "a", stars=1))) as connection:
            assert connection.execute("SELECT COUNT(*) FROM messages").fetchone() == (3,)
