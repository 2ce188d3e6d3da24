"""Metrics of open pages, cookies, history and what else a browser knows."""

from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.formats.url_match import normal, same, same_osworld, same_waa
from backend.domain.registry import PluginKind
from tests.factories.chrome_profile import bookmark_roots, folder, page

registry.load()

# (one, other, OSWorld's, WAA's, ours), the first two as upstream's functions gave them.
ADDRESSES = [
    ("https://www.airbnb.com", "https://airbnb.com/", True, True, True),
    ("airbnb.com", "http://airbnb.com.sg", True, False, False),
    ("https://github.io", "https://github.com", True, False, False),
    (".amazon.com", "www.amazon.com", True, False, True),
    (".amazon.com", ".amazon.de", True, False, False),
    (".amazon.com", "aws.amazon.com", False, False, False),
    ("chrome://settings/", "chrome://settings", True, True, True),
    ("https://a.org/x/", "https://a.org/x", False, False, False),
    ("https://a.org/x#b", "https://a.org/x", False, False, False),
    ("file:///home/user/a", "file:///home/user/a", True, True, True),
    ("https://a.org:443/x", "https://a.org/x", True, False, True),
    ("HTTPS://A.org/X", "https://a.org/X", True, True, True),
    ("www.x.org", "https://x.org", False, False, False),
    ("https://a.org/b c?q=caf\u00e9", "https://a.org/b%20c?q=caf%c3%a9", False, False, True),
    ("https://a.org/%7Eme", "https://a.org/~me", False, False, True),
    ("https://a.org/b%2Fc", "https://a.org/b/c", False, False, False),
    ("https://a.org/%25zz", "https://a.org/%zz", False, False, False),
    ("https://xn--mnchen-3ya.de/", "https://m\u00fcnchen.de", False, False, True),
    ("https://a.org./x", "https://a.org/x", True, False, True),
]


def judge(name: str, *args: Any, dialect: str = "osworld", **options: Any) -> float:
    result = registry.lookup(PluginKind.METRIC, name, dialect)(*args, **options)
    assert result.reasons
    return float(result.value)


class TestAddresses:
    @pytest.mark.parametrize(("one", "other", "osworld", "waa", "ours"), ADDRESSES)
    def test_each_suites_way(self, one: str, other: str, osworld: bool, waa: bool, ours: bool) -> None:  # noqa: FBT001
        assert (same_osworld(one, other), same_waa(one, other), same(one, other)) == (osworld, waa, ours)

    def test_pages_of_the_browser_itself_differ(self) -> None:
        assert not same("about:blank", "about:version")

    @settings(max_examples=60, deadline=None)
    @given(st.text(max_size=60))
    def test_any_text_equals_itself_and_normal_stays_normal(self, text: str) -> None:
        assert same(text, text)
        assert normal(text) == normal(text.strip())


class TestIsExpectedActiveTab:
    @pytest.mark.parametrize(("one", "other", "osworld", "waa", "ours"), ADDRESSES)
    def test_strict_as_published(self, one: str, other: str, osworld: bool, waa: bool, ours: bool) -> None:  # noqa: FBT001
        rule = {"type": "url", "url": one}
        name = "is_expected_active_tab"
        assert judge(name, {"url": other}, rule) == ours
        assert judge(name, other, rule, strict_upstream=True) == osworld
        assert judge(name, other, rule, dialect="waa", strict_upstream=True) == waa

    @pytest.mark.parametrize("result", [None, "", {}, {"url": None}])
    def test_missing_page_scores_0(self, result: Any) -> None:
        assert judge("is_expected_active_tab", result, {"type": "url", "url": "https://a.org"}) == 0.0

    @pytest.mark.parametrize(
        "rule", [None, {}, {"type": "title", "url": "a"}, {"type": "url"}, {"type": "url", "url": 1}]
    )
    def test_invalid_rule_gives_no_verdict(self, rule: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            judge("is_expected_active_tab", "https://a.org", rule)


class TestIsExpectedActiveTabApproximate:
    def test_the_query_does_not_count(self) -> None:
        rule = {"type": "url", "url": "https://a.org/x?y=1"}
        assert judge("is_expected_active_tab_approximate", {"url": "https://a.org/x?z=2"}, rule) == 1.0
        assert judge("is_expected_active_tab_approximate", "https://www.a.org/x?y=1", rule) == 0.0


class TestIsExpectedTabs:
    def tabs(self, *urls: str) -> list[dict[str, str]]:
        return [{"url": url} for url in urls]

    def test_each_as_often_as_expected(self) -> None:
        rule = {"type": "url", "urls": ["https://a.org", "https://a.org"]}
        result = self.tabs("https://a.org/", "https://b.org")
        assert judge("is_expected_tabs", result, rule) == 0.0
        assert judge("is_expected_tabs", result, rule, strict_upstream=True) == 1.0

    def test_additional_tab_scores_0(self) -> None:
        rule = {"type": "url", "urls": ["https://a.org"]}
        assert judge("is_expected_tabs", self.tabs("https://a.org", "https://b.org"), rule) == 0.0
        assert judge("is_expected_tabs", [], rule) == 0.0

    @settings(max_examples=25, deadline=None)
    @given(st.permutations(["https://a.org", "https://b.org/x", "https://www.c.org"]))
    def test_order_does_not_matter(self, urls: list[str]) -> None:
        rule = {"type": "url", "urls": ["https://a.org", "https://b.org/x", "https://c.org"]}
        assert judge("is_expected_tabs", self.tabs(*urls), rule) == 1.0


class TestIsCookieDeleted:
    RULE: ClassVar[dict[str, Any]] = {"type": "domains", "domains": [".amazon.com"]}

    @pytest.mark.parametrize(
        ("host", "ours", "osworld", "waa"),
        [(".amazon.com", 0, 0, 0), ("www.amazon.com", 0, 0, 1), (".amazon.de", 1, 0, 1), ("aws.amazon.com", 1, 1, 1)],
    )
    def test_cookies_are_matched_by_host(self, host: str, ours: int, osworld: int, waa: int) -> None:
        rows = [(1, "example.org"), (2, host)]
        assert judge("is_cookie_deleted", rows, self.RULE) == ours
        assert judge("is_cookie_deleted", rows, self.RULE, strict_upstream=True) == osworld
        assert judge("is_cookie_deleted", rows, self.RULE, dialect="waa", strict_upstream=True) == waa

    def test_no_cookies_and_no_file(self) -> None:
        assert judge("is_cookie_deleted", [], self.RULE) == 1.0
        assert judge("is_cookie_deleted", None, self.RULE) == 0.0


class TestIsExpectedUrlPatternMatch:
    def test_every_pattern_is_needed(self) -> None:
        url = "https://scholar.google.com/citations?hl=en&user=qRAQ5BsAAAAJ"
        rule = {"expected": ["https://scholar.google.com/citations", "user=qRAQ5BsAAAAJ"]}
        assert judge("is_expected_url_pattern_match", url, rule) == 1.0
        assert judge("is_expected_url_pattern_match", {"url": url[:-2]}, rule) == 0.0

    @pytest.mark.parametrize("expected", ["manchester", ["("], [1]])
    def test_invalid_patterns_give_no_verdict(self, expected: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            judge("is_expected_url_pattern_match", "https://a.org", {"expected": expected})


class TestIsExpectedBookmarks:
    LIKED: ClassVar[dict[str, Any]] = {
        "type": "liked_authors_websites_urls",
        "urls": [["https://a.example/", "https://a.org/"], "https://b.example/"],
    }

    def roots(self, *urls: str) -> dict[str, Any]:
        return bookmark_roots(folder("Liked Authors", *map(page, urls)))

    @pytest.mark.parametrize(
        ("urls", "value"),
        [
            (["https://a.org/", "https://b.example/"], 1.0),
            (["https://a.org/"], 0.0),
            (["https://a.org/", "https://a.example/", "https://b.example/"], 0.0),
            (["https://a.org/", "https://b.example/", "https://c.example/"], 0.0),
        ],
    )
    def test_one_liked_address_per_author_suffices(self, urls: list[str], value: float) -> None:
        assert judge("is_expected_bookmarks", self.roots(*urls), self.LIKED) == value

    def test_bookmark_folders_are_compared_as_in_each_suite(self) -> None:
        rule = {"type": "bookmark_bar_folders_names", "names": ["Favorites"]}
        more = bookmark_roots(folder("Favorites"), folder("Other"), page("https://a.org"))
        assert judge("is_expected_bookmarks", bookmark_roots(folder("Favorites")), rule) == 1.0
        assert judge("is_expected_bookmarks", more, rule) == 0.0
        assert judge("is_expected_bookmarks", more, rule, dialect="waa") == 1.0

    @pytest.mark.parametrize("result", [None, [], {}, {"bookmark_bar": []}, {"bookmark_bar": {"children": 3}}])
    def test_malformed_bookmarks_score_0(self, result: Any) -> None:
        assert judge("is_expected_bookmarks", result, self.LIKED) == 0.0

    def test_an_unknown_rule(self) -> None:
        with pytest.raises(EvaluatorFailed):
            judge("is_expected_bookmarks", bookmark_roots(page("a")), {"type": "other"})


class TestIsShortcutOnDesktop:
    @pytest.mark.parametrize(
        ("text", "ours", "published"),
        [
            ("Name=Play Puzzle Game 2048\n", 1, 1),
            ("Name=play puzzle game 2048!\r\n", 1, 1),
            ("Name=Game 2048\n", 0, 1),
            ("Name=\n", 0, 1),
            ("GenericName=Play Puzzle Game 2048\n", 0, 0),
        ],
    )
    def test_shortcut_name_must_contain_the_expected_one(self, text: str, ours: int, published: int) -> None:
        rule = {"type": "name", "name": "Play Puzzle Game 2048"}
        result = {"a.desktop": f"[Desktop Entry]\n{text}"}
        assert judge("is_shortcut_on_desktop", result, rule) == ours
        assert judge("is_shortcut_on_desktop", result, rule, strict_upstream=True) == published

    def test_shortcut_command_must_contain_the_expected_one(self) -> None:
        rule = {"type": "exec", "exec": "--app-id=abc"}
        assert judge("is_shortcut_on_desktop", {"a": "Exec=chrome --app-id=abc %U\n"}, rule) == 1.0
        assert judge("is_shortcut_on_desktop", {"a": "Exec=chrome --app-id=ABC\n"}, rule) == 0.0
        assert judge("is_shortcut_on_desktop", {}, rule) == 0.0

    @pytest.mark.parametrize(
        ("lines", "ours", "published"),
        [
            ("[Desktop Entry]\nName = Play", 1.0, 0.0),
            ("[Desktop Entry]\r\nName=Play\r\n", 1.0, 1.0),
            ("[Desktop Entry]\nName=x\n[Desktop Action new]\nName=Play", 0.0, 1.0),
            ("[Desktop Entry]\nName=x\nName[de]=Play\n#Name=Play", 0.0, 0.0),
        ],
    )
    def test_the_shortcuts_own_name(self, lines: str, ours: float, published: float) -> None:
        rule = {"type": "name", "name": "Play"}
        for dialect in ("osworld", "waa"):
            assert judge("is_shortcut_on_desktop", {"a": lines}, rule, dialect=dialect) == ours
        assert judge("is_shortcut_on_desktop", {"a": lines}, rule, dialect="waa", strict_upstream=True) == published

    def test_descriptions_of_windows(self) -> None:
        rule = {"type": "description", "description": "2048"}
        for text, value in (('{"data": {"description": "Play 2048"}}', 1.0), ("[]", 0.0), ("no JSON", 0.0)):
            assert judge("is_shortcut_on_desktop", {"a.lnk": text}, rule, dialect="waa") == value


class TestFontSizes:
    @pytest.mark.parametrize(("size", "chrome", "edge"), [(16, 0, 1), (17, 1, 1), (99, 0, 0)])
    def test_font_size_range_is_as_in_each_suite(self, size: int, chrome: int, edge: int) -> None:
        rule = {"type": "range", "min": 16, "max": 99}
        assert judge("check_font_size", {"default_font_size": size}, rule) == chrome
        assert judge("check_edge_font_size", {"default_font_size": size}, rule, dialect="waa") == edge

    def test_values_and_odd_things(self) -> None:
        rule = {"type": "value", "value": 20}
        assert judge("check_font_size", {"default_font_size": 20}, rule) == 1.0
        for odd in (None, {}, {"default_font_size": "20"}, {"default_font_size": True}):
            assert judge("check_font_size", odd, rule) == 0.0


class TestOthers:
    def test_deleted_history_scores_1_and_a_missing_one_0(self) -> None:
        rule = {"type": "keywords", "keywords": ["youtube"]}
        assert judge("check_history_deleted", [], rule) == 1.0
        assert judge("check_history_deleted", None, rule) == 0.0

    def test_enabled_experiments_must_equal_the_expected_list(self) -> None:
        rule = {"type": "names", "names": ["a", "b"]}
        assert judge("check_enabled_experiments", ["a@1", "b"], rule) == 1.0
        assert judge("check_enabled_experiments", ["b", "a@1"], rule) == 0.0
        assert judge("check_enabled_experiments", None, rule) == 0.0

    def test_expected_extensions_must_be_installed(self) -> None:
        rule = {"expected": ["Zoom Chrome Extension", "Momentum"]}
        assert judge("is_expected_installed_extensions", ["Momentum", "Zoom for Google Chrome", "X"], rule) == 1.0
        assert judge("is_expected_installed_extensions", [], rule) == 0.0

    def test_missing_cart_scores_0(self) -> None:
        assert judge("is_added_to_steam_cart", None, {"items": ["a"]}) == 0.0


@pytest.mark.parametrize(
    ("text", "value", "strict"),
    [
        ("[InternetShortcut]\r\nURL=https://a.org/x.html\r\n", 1.0, 1.0),
        ("[InternetShortcut]\nIconIndex=0\nurl = https://www.a.org/x.html", 1.0, 0.0),
        ("[InternetShortcut]\nURL=https://evil.org/?next=https://a.org/x.html", 0.0, 1.0),
        ("[InternetShortcut]\nURL=https://a.org/x.html.bak", 0.0, 1.0),
        ("[InternetShortcut]\nURL=https://b.org/\nIconFile=https://a.org/x.html", 0.0, 1.0),
        ("[InternetShortcut]\nURL=https://b.org/\n[Other]\nURL=https://a.org/x.html", 0.0, 1.0),
        ("[{000214A0}]\nProp3=19,2\n[InternetShortcut]\nIDList=\nURL=https://a.org/x.html", 1.0, 1.0),
    ],
)
def test_a_shortcut_opens_the_address(text: str, value: float, strict: float) -> None:
    rule = {"type": "url", "url_content": "https://a.org/x.html"}
    metric = registry.lookup(PluginKind.METRIC, "is_url_shortcut_on_desktop")
    assert metric({"a.url": text}, rule).value == value
    assert metric({"a.url": text}, rule, strict_upstream=True).value == strict
