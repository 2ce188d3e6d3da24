"""Files generated from descriptions: deterministic bytes, with the described content."""

import io
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook  # type: ignore[import-untyped]
from PIL import Image

from backend.domain.file_generators import KINDS, FileRequest, age_days, asks_for_today, make
from backend.domain.file_generators.prompt import table_of
from backend.domain.formats.any_text import read_any_text
from backend.domain.formats.pdf import count_pages
from backend.domain.setup import run_step
from tests.factories.desktops import linux
from tests.factories.suites import read

STAFF = "生成包含15行员工数据的表格，列包括：姓名（中文名）、部门（如人力资源部、技术部等）、工号（6位数字）"


def book(*prompts: str, like: str = "", today: date = date(2024, 6, 17)) -> Any:
    return load_workbook(io.BytesIO(make("xlsx", FileRequest("a.xlsx", prompts, like, today))))


def rows(*prompts: str, like: str = "") -> list[tuple[Any, ...]]:
    return list(book(*prompts, like=like).active.values)


def text(kind: str, prompt: str, tmp_path: Path, name: str = "a") -> str:
    path = tmp_path / f"{name}.{kind}"
    path.write_bytes(make(kind, FileRequest(path.name, (prompt,))))
    return read_any_text(str(path))[0] or ""


def columns(prompt: str) -> list[str]:
    return [column.name for column in table_of(prompt).columns]


class TestTables:
    def test_columns_rows_and_values(self) -> None:
        result = rows(STAFF)
        assert result[0] == ("姓名", "部门", "工号")
        assert len(result) == 16
        assert {row[1] for row in result[1:]} == {"人力资源部", "技术部"}
        assert all(100_000 <= row[2] <= 999_999 for row in result[1:])
        assert len({row[0] for row in result[1:]}) == 15

    @pytest.mark.parametrize(
        ("prompt", "names"),
        [
            ("生成包含部门、费用类别、金额三列的10行模拟费用数据", ["部门", "费用类别", "金额"]),
            ("A列为日期，B列为类别，C列为金额（数字）", ["日期", "类别", "金额"]),
            ("包含“公司名称”和“税前利润（元）”两列，共1行数据", ["公司名称", "税前利润"]),
            ("生成包含列标题（日期、任务、状态）的Excel表格", ["日期", "任务", "状态"]),
            ("列包括：Date、Region；其中Region列包含East、West", ["Date", "Region"]),
            ("含姓名、任务总数、已完成数，最后一列是完成率百分比", ["姓名", "任务总数", "已完成数", "完成率"]),
            ("一张表", ["编号", "名称", "数量"]),
        ],
    )
    def test_ways_to_name_columns(self, prompt: str, names: list[str]) -> None:
        assert columns(prompt) == names

    @pytest.mark.parametrize(
        ("prompt", "column", "value", "number"),
        [
            ("20行，列包括：Product、Region；其中至少有5行Region为East", 1, "East", 5),
            ("15行的表格，包含姓名、部门列，其中至少5人属于“数据科学”部门", 1, "数据科学", 5),
            ("包含员工姓名（含张伟）、部门列的表格", 0, "张伟", 1),
            ("15行，列包括姓名、部门；部门包括IT部（4人）、财务部（6人）、人事部（5人）", 1, "财务部", 6),
        ],
    )
    def test_values_that_are_counted(self, prompt: str, column: int, value: str, number: int) -> None:
        assert sum(row[column] == value for row in rows(prompt)[1:]) >= number

    def test_a_sum_below_even_a_wrong_one(self) -> None:
        result = rows(
            "预算表，三大费用类别（人力成本、运营费用）的预算表，总和单元格（例如实际总和为150000，但显示为145000）"
        )
        assert sum(row[1] for row in result[1:-1]) == 150_000
        assert result[-1] == ("合计", 145_000)

    def test_the_same_as_above_has_its_columns_and_other_values(self) -> None:
        first = "包含费用类别（办公、差旅、餐饮）和金额两列，共3行"
        assert [row[0] for row in rows("同上，金额不同", like=first)] == ["费用类别", "办公", "差旅", "餐饮"]
        assert rows("同上，金额不同", like=first) != rows(first)

    def test_descriptions_of_one_file_are_one_file(self) -> None:
        made = book(STAFF, "列包括：姓名、薪资（范围50000-120000）；共20行", "包含‘入职’工作表，列包括：姓名、入职日期")
        assert made.sheetnames == ["Sheet1", "入职"]
        result = list(made["Sheet1"].values)
        assert (result[0], len(result)) == (("姓名", "部门", "工号", "薪资"), 21)
        assert all(50_000 <= row[3] <= 120_000 for row in result[1:])

    @pytest.mark.parametrize(
        "prompt",
        [
            "列包括：姓名、工号（0位数字）",
            "列包括：任务、日期（近0天）",
            "列包括：部门（如总预算、无）、总预算（如甲、乙）、已支出",
            "列包括：预算金额（如甲、乙）、实际支出、差额",
        ],
    )
    def test_words_that_make_no_number_give_a_table(self, prompt: str) -> None:
        assert len(rows(prompt)) > 1

    def test_today_is_the_desktops(self) -> None:
        prompt = "列包括：日期、平台；今天的日期行有一条"
        assert asks_for_today((prompt,))
        dates = [row[0].date() for row in list(book(prompt, today=date(2030, 1, 5)).active.values)[1:]]
        assert dates[0] == date(2030, 1, 5)


class TestOthers:
    def test_a_document_says_what_is_quoted(self, tmp_path: Path) -> None:
        said = text("docx", "创建一个包含标题“Q2财务报告”和占位符“[季度增长率]”的Word文档", tmp_path)
        assert said.startswith("Q2财务报告")
        assert "[季度增长率]" in said

    def test_a_pdf_has_its_figures_and_pages(self, tmp_path: Path) -> None:
        assert "Q2：120万" in text("pdf", "财务报告PDF，例如 Q1: 100万, Q2: 120万", tmp_path)
        text("pdf", "年度报告，页数不少于3页", tmp_path, "long")
        assert count_pages(str(tmp_path / "long.pdf")) == 3
        assert text("pdf", "空PDF文件，模拟收据", tmp_path, "empty") == ""

    def test_a_log_has_so_many_errors(self, tmp_path: Path) -> None:
        lines = text("log", "生成包含100行日志的文本，其中约20行包含'ERROR'关键词", tmp_path).splitlines()
        assert (len(lines), sum("ERROR" in line for line in lines)) == (100, 20)

    def test_json_that_stands_in_the_words(self) -> None:
        made = make("json", FileRequest("a.json", ('未格式化的文件，例如 {"a":{"b":[1]}}',)))
        assert made == b'{"a":{"b":[1]}}'
        records = json.loads(make("json", FileRequest("a.json", ("20条记录，每条有id和kind字段，kind值为A-C",))))
        assert (len(records), {one["kind"] for one in records}) == (20, {"A", "B", "C"})

    def test_json_is_not_looked_for_without_end(self) -> None:
        assert json.loads(make("json", FileRequest("a.json", ("{" * 1000 + '{"a": [1]}',)))) != {"a": [1]}

    @pytest.mark.parametrize(
        ("form", "prompt", "size"), [("png", "800x600的图片", (800, 600)), ("jpg", "图标", (64, 64))]
    )
    def test_pictures_have_their_size(self, form: str, prompt: str, size: tuple[int, int]) -> None:
        assert Image.open(io.BytesIO(make(form, FileRequest(f"a.{form}", (prompt,))))).size == size

    @pytest.mark.parametrize("prompt", ["00x600的图片", "600x00的风景", "10x10的城市天际线"])
    def test_picture_has_at_least_one_pixel(self, prompt: str) -> None:
        assert min(Image.open(io.BytesIO(make("png", FileRequest("a.png", (prompt,))))).size) >= 1

    @pytest.mark.parametrize("form", ["png", "jpg"])
    def test_picture_has_the_requested_size_in_bytes(self, form: str) -> None:
        data = make(form, FileRequest(f"a.{form}", ("约50KB的图标",)))
        assert len(data) == 50_000
        Image.open(io.BytesIO(data)).load()

    def test_age_in_days_is_read_from_the_description(self) -> None:
        assert [age_days((words,)) for words in ("修改时间为今天", "修改时间为昨天", "修改时间为6天前", "无")] == [
            0,
            1,
            6,
            None,
        ]


class TestAll:
    @pytest.mark.parametrize("kind", sorted(KINDS))
    def test_the_same_words_the_same_bytes(self, kind: str) -> None:
        order = FileRequest(f"a.{kind}", (STAFF,))
        assert make(kind, order) == make(kind, order)

    @settings(max_examples=60)
    @given(prompt=st.text(max_size=200), kind=st.sampled_from(sorted(set(KINDS) - {"png", "jpg", "jpeg"})))
    def test_any_words_give_a_file(self, prompt: str, kind: str) -> None:
        assert isinstance(make(kind, FileRequest(f"a.{kind}", (prompt.replace("\x00", ""),))), bytes)

    def test_every_published_file_can_be_made(self, shared_dir: Path) -> None:
        loaded = read("windowsworld", shared_dir / "benchmarks" / "windowsworld")
        steps = [step for task in loaded.tasks for step in task.setup if step.type == "generate_file"]
        context = linux(python="")
        for step in steps:
            run_step(context, step.type, step.parameters)
        assert len(steps) == 130
        assert len(context.desktop.files) == len({step.parameters["path"] for step in steps})
