"""Lists: what a column sorts by, and what the address says of a table."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from backend.web.lists import next_order, slug, sort_key
from backend.web.templating import environment

NODES = [("task-10", "3", "5.0 s"), ("task-9", "1,200", "8 min 20 s"), ("<b>", "–", "–"), ("a", "7", "0.20 s")]
TABLE = """{% filter listing(key, by=by, whole=whole) %}<div class="scroll"><table class="cards">
<thead><tr><th scope="col">Name</th><th class="num">In use</th><th>Age</th><th><a href="/own">Own</a></th></tr></thead>
<tbody>{% for row in rows %}
<tr data-row><th scope="row">{{ row[0] }}</th><td>{{ row[1] }}</td><td>{{ row[2] }}</td><td></td></tr>
{% endfor %}</tbody></table></div>{% endfilter %}"""
HEAD = re.compile(r'<a class="sort" href="([^"]*)" data-list-link>(.*?)</a>')


def page(query: dict[str, Any] | None = None, rows: Sequence[Any] = NODES, **options: Any) -> str:
    values = {"path": "/workers", "query": query or {}, "rows": rows, "key": "nodes", "by": (), "whole": True}
    return environment().from_string(TABLE).render(values | options)


def names(text: str) -> list[str]:
    return re.findall(r'<th scope="row">(.*?)</th>', text)


def links(text: str) -> dict[str, str]:
    """Where the heads lead, by their text."""
    return {
        name: address for address, name in re.findall(r'<a class="sort" href="([^"]*)" data-list-link>(.*?)</a>', text)
    }


class TestSortKey:
    @pytest.mark.parametrize(
        ("lower", "higher"),
        [
            ("9", "10"),
            ("1,200", "1,300"),
            ("$2.50", "$12"),
            ("≥ 5 %", "72.7 %"),
            ("59 s", "1 min 00 s"),
            ("2 h 10 min", "1 d"),
            ("900 kB", "1.2 MB"),
            ("3 of 30 steps", "12 of 30 steps"),
            ("task-9", "Task-10"),
            ("1000", "a text"),
            ('<b>2</b><span class="sub">n = 9</span>', "3"),
            (
                '<time datetime="2026-01-02T00:00:00.000+00:00">2 Jan</time>',
                '<time datetime="2026-01-02T00:00:01.000+00:00">1 Jan</time>',
            ),
        ],
    )
    def test_orders_as_readers_do(self, lower: str, higher: str) -> None:
        first, second = sort_key(lower), sort_key(higher)
        assert first is not None
        assert second is not None
        assert first < second

    @pytest.mark.parametrize("cell", ["", "–", "<svg></svg>", " \n"])
    def test_an_empty_cell_has_none(self, cell: str) -> None:
        assert sort_key(cell) is None


class TestListing:
    def test_sorts_by_the_column_of_the_address(self) -> None:
        assert names(page({"nodes.sort": "name"})) == ["&lt;b&gt;", "a", "task-9", "task-10"]
        assert names(page({"nodes.sort": "in-use"})) == ["task-10", "a", "task-9", "&lt;b&gt;"]
        assert names(page({"nodes.sort": "-in-use"})) == ["task-9", "a", "task-10", "&lt;b&gt;"]
        assert names(page({"nodes.sort": "-age"})) == ["task-9", "task-10", "a", "&lt;b&gt;"]

    def test_unknown_columns_and_other_lists_state_are_ignored(self) -> None:
        own = names(page())
        assert own == ["task-10", "task-9", "&lt;b&gt;", "a"]
        assert names(page({"sort": "name", "slots.sort": "name", "nodes.sort": "colour"})) == own

    def test_heads_lead_to_each_order_and_keep_the_rest_of_the_address(self) -> None:
        text = page({"nodes.sort": "in-use", "window": "7d"})
        assert links(text)["In use"] == "/workers?nodes.sort=-in-use&amp;window=7d#list-nodes"
        assert links(text)["Name"] == "/workers?nodes.sort=name&amp;window=7d#list-nodes"
        assert 'class="num" aria-sort="ascending"' in text
        assert [next_order("age", order) for order in ("", "ascending", "descending")] == ["age", "-age", None]

    def test_header_link_is_preserved(self) -> None:
        assert "Own" not in links(page())
        assert '<th><a href="/own">Own</a></th>' in page()

    def test_rows_are_found_by_words(self) -> None:
        text = page({"nodes.find": "TASK 8"})
        assert names(text) == ["task-9"]
        assert "1 of 4 rows." in text
        none = page({"nodes.find": "nothing"})
        assert names(none) == []
        assert "data-none" in none

    def test_hides_columns_but_the_first(self) -> None:
        assert 'data-hide="2 3"' in page({"nodes.hide": ["age", "in-use", "name"]})
        assert "data-hide" not in page({"nodes.hide": "name"})
        assert "/workers?nodes.hide=age#list-nodes" in page()

    def test_of_several_pages_only_the_databases_columns_sort(self) -> None:
        some = page({"sort": "-name", "after": "x", "find": "task"}, key="", by={"name"}, whole=False)
        assert names(some) == names(page())
        assert links(some) == {"Name": "/workers?find=task"}
        assert 'aria-sort="descending"' in some

    def test_new_order_starts_at_the_first_page(self) -> None:
        text = page({"page": "3", "before": "x", "q": "a"}, key="", by={"name"}, whole=False)
        assert links(text)["Name"] == "/workers?q=a&amp;sort=name"

    def test_a_table_with_joined_cells_stays_as_it_is(self) -> None:
        joined = '<table><thead><tr><th>A</th></tr></thead><tbody><tr><td colspan="2">none</td></tr></tbody></table>'
        template = environment().from_string("{% filter listing %}{{ table|safe }}{% endfilter %}")
        assert template.render(path="/", query={}, table=joined) == joined

    def test_query_text_is_escaped(self) -> None:
        assert "<script>" not in page({"nodes.find": "<script>", "other": '"><script>'})


def test_columns_have_plain_names_in_addresses() -> None:
    assert slug("95 % interval, 0 to 100 %") == "95-interval-0-to-100"
