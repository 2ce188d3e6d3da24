"""Shared parts of metrics of open pages and cookies: rules, and each suite's comparison of addresses."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats import url_match
from backend.domain.model.score import MetricValue

Same = Callable[[str, str], bool]


def kind_of(rules: Any, *kinds: str) -> str:
    """The rule's `type`. Raises EvaluatorFailed if it is unknown."""
    kind = rule(rules, "type")
    if kind not in kinds:
        raise EvaluatorFailed(
            f"the rule's type is {short(kind)}, expected one of {', '.join(kinds)}", code="invalid_rule", hint=HINT
        )
    return str(kind)


def address_of(page: Any) -> str | None:
    """The address from `active_tab_info` (an object with `url`) or an address getter (a text)."""
    address = page.get("url") if isinstance(page, Mapping) else page
    return address if isinstance(address, str) and address else None


def active_page(result: Any, rules: Any, same: Same) -> MetricValue:
    """1 if the visible page has the rule's address."""
    kind_of(rules, "url")
    (expected,) = texts([rule(rules, "url")], "`url`")
    address = address_of(result)
    if address is None:
        return verdict(met=False, reason="no visible page was found")
    return verdict(same(expected, address), f"the page is {short(address, 300)}, expected {short(expected, 300)}")


def open_pages(result: Any, rules: Any, same: Same | None) -> MetricValue:
    """1 if exactly these pages are open, in any order; `same` None: our comparison, with multiplicity."""
    kind_of(rules, "url")
    expected = texts(rule(rules, "urls"), "`urls`")
    addresses = [url for page in result or () if (url := address_of(page)) is not None]
    if not addresses:
        return verdict(met=False, reason="no page is open")
    if same is None:
        balance = Counter(map(url_match.normal, expected))
        balance.subtract(map(url_match.normal, addresses))
        met = not any(balance.values())
    else:
        met = len(addresses) == len(expected) and all(
            any(same(address, other) for other in addresses) for address in expected
        )
    return verdict(met, f"open are {short(addresses, 600)}, expected {short(expected, 600)}")


def without_cookies(result: Any, rules: Any, same: Same) -> MetricValue:
    """1 if no cookie belongs to one of the rule's domains. Rows are as in the browser's table: the host is second."""
    kind_of(rules, "domains")
    domains = texts(rule(rules, "domains"), "`domains`")
    if result is None:
        return verdict(met=False, reason="the browser has no cookie file")
    hosts = [str(row[1]) for row in result if len(row) > 1]
    remaining = sorted({host for host in hosts if any(same(domain, host) for domain in domains)})
    return verdict(
        not remaining,
        f"cookies remain of {short(remaining, 300)}" if remaining else f"{len(hosts)} cookies, none of these domains",
    )
