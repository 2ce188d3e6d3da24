"""Tables as CSV and Parquet: the same rows, in Parquet with types."""

import csv
import io
import sys
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient
from pyarrow import parquet

from backend.db.models import Episode
from backend.web.table_files import PARQUET, parquet_file
from tests.factories.records import World
from tests.factories.scene import PageScene

TABLES = (
    "/runs.csv",
    "/runs/{finished}/episodes.csv",
    "/configurations.csv",
    "/leaderboards/starter/rows.csv",
    "/leaderboards/starter/domain.csv",
    "/leaderboards/starter/labels.csv?label=domain",
    "/compare/tasks.csv?run={finished}&run={pilot}",
    "/compare/rates.csv?run={finished}&run={pilot}",
    "/compare/differences.csv?run={finished}&run={pilot}",
    "/compare/labels.csv?run={finished}&run={pilot}&label=domain",
    "/compare/fields.csv?run={finished}&run={human}",
    "/compare/failures/shares.csv?run={finished}",
    "/compare/failures/ends.csv?run={finished}",
    "/compare/failures/tasks.csv?run={finished}",
    "/runs/{finished}/failures/shares.csv",
    "/runs/{finished}/labels.csv",
    "/runs/{finished}/losses.csv",
    "/tasks/{task}/history.csv",
    "/tasks/{task}/configurations.csv",
    "/published/osworld.csv",
)


def address(scene: PageScene, table: str, **more: str) -> str:
    path = table.format(finished=scene.finished, pilot=scene.pilot, human=scene.human, task=task_of(scene))
    return path + "".join(f"{'&' if '?' in path else '?'}{name}={value}" for name, value in more.items())


def task_of(scene: PageScene) -> UUID:
    """The task of the solved episode."""
    with scene.world.work() as session:
        return session.get_one(Episode, scene.solved).task_id


def table_of(answer: Any) -> pa.Table:
    assert answer.headers["content-type"] == PARQUET
    return parquet.read_table(io.BytesIO(answer.content))


class TestComparison:
    def test_rates_and_differences_are_those_of_the_api(self, client: TestClient, scene: PageScene) -> None:
        params: dict[str, Any] = {"run": [scene.finished, scene.pilot], "label": "domain"}
        answer = client.get("/api/v1/compare", params=params).json()
        rates, differences, labels = (
            list(csv.DictReader(client.get(f"/compare/{table}.csv", params=params).text.splitlines()))
            for table in ("rates", "differences", "labels")
        )
        assert [float(row["mean_score"]) for row in rates] == [run["mean_score"] for run in answer["runs"]]
        (row,), (difference,) = differences, answer["differences"]
        assert (row["title"], float(row["p_value"])) == (answer["runs"][1]["title"], difference["p_value"])
        assert float(row["mean_low"]) == difference["mean_score"]["interval"][0]
        assert float(row["steps_difference"]) == difference["costs"]["steps"]["value"]
        assert [float(each["mean_score"]) for each in labels] == [
            mean for cut in answer["cuts"] for mean in cut["mean_scores"]
        ]
        for each, cut in zip(labels[1::2], answer["cuts"], strict=True):
            base, other = cut["mean_scores"]
            assert float(each["difference"]) == pytest.approx(other - base)
            assert [float(each["low"]), float(each["high"])] == cut["differences"][0]["interval"]


class TestTaskHistory:
    def test_results_by_configuration_are_those_without_help(self, installation: World, fresh: TestClient) -> None:
        run, worker = installation.submit("random", tasks=("files/a",), repeats=3), installation.worker()
        claims = [installation.must_claim(worker) for _ in range(2)]
        for claim, score in zip(claims, (0.5, 1.0), strict=True):
            installation.score(claim, score)
        installation.lose(installation.must_claim(worker))
        with installation.work() as session:
            session.get_one(Episode, claims[1].episode_id).human_assisted = True
            task = session.get_one(Episode, claims[0].episode_id).task_id
        history, configurations = (
            list(csv.DictReader(fresh.get(f"/tasks/{task}/{table}.csv").text.splitlines()))
            for table in ("history", "configurations")
        )
        assert {(each["run"], each["score"]) for each in history} >= {(str(run.id), "0.5"), (str(run.id), "1.0")}
        assert len(history) == 3
        assert [(each["scored"], each["solved"], each["mean_score"]) for each in configurations] == [("1", "0", "0.5")]


class TestParquet:
    @pytest.mark.parametrize("table", TABLES)
    def test_has_the_rows_of_the_csv(self, client: TestClient, scene: PageScene, table: str) -> None:
        rows = list(csv.DictReader(io.StringIO(client.get(address(scene, table)).text)))
        read = table_of(client.get(address(scene, table, format="parquet")))
        assert (read.num_rows, read.column_names) == (len(rows), list(rows[0]))
        assert client.get(address(scene, table, format="parquet")).headers["content-disposition"].endswith('.parquet"')

    def test_columns_are_typed(self, client: TestClient, scene: PageScene) -> None:
        schema = table_of(client.get(address(scene, "/runs.csv", format="parquet"))).schema
        assert pa.types.is_timestamp(schema.field("created_at").type)
        assert schema.field("scored").type == pa.int64()
        assert schema.field("success_rate").type == pa.float64()
        episodes = table_of(client.get(address(scene, "/runs/{finished}/episodes.csv", format="parquet"))).schema
        assert (episodes.field("score").type, episodes.field("solved").type) == (pa.float64(), pa.bool_())

    def test_query_format_overrides_the_accept_header(self, client: TestClient) -> None:
        assert table_of(client.get("/runs.csv", headers={"Accept": PARQUET})).num_rows > 0
        plain = client.get("/runs.csv?format=csv", headers={"Accept": PARQUET})
        assert plain.headers["content-type"].startswith("text/csv")
        assert client.get("/runs.csv?format=xlsx").status_code == 422

    def test_missing_pyarrow_is_reported(self, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        answer = client.get("/runs.csv?format=parquet", headers={"Accept": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (422, "parquet_not_installed")
        assert client.get("/runs.csv").status_code == 200

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ((1, 2), "int64"),
            ((1, 2.5), "double"),
            ((1, ""), "int64"),
            ((True, None), "bool"),
            (("=1", "a\ud800"), "string"),
            ((1, "a"), "string"),
            ((2**70, 1), "string"),
        ],
    )
    def test_columns_have_the_type_of_all_their_values(self, values: tuple[Any, ...], kind: str) -> None:
        read = parquet.read_table(
            io.BytesIO(bytes(parquet_file("t", ["a", "a"], zip(values, values, strict=True)).body))
        )
        assert (read.column_names, [str(field.type) for field in read.schema]) == (["a", "a 2"], [kind, kind])

    def test_table_without_rows_has_its_columns(self) -> None:
        read = parquet.read_table(io.BytesIO(bytes(parquet_file("t", ["a"], []).body)))
        assert (read.num_rows, read.column_names) == (0, ["a"])
