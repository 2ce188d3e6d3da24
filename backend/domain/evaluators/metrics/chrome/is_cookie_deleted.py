"""`is_cookie_deleted`: the browser has no cookies of certain domains."""

from typing import Any

from backend.domain.evaluators.metrics._browser_pages import without_cookies
from backend.domain.formats.url_match import same, same_osworld, same_waa
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_cookie_deleted")
def is_cookie_deleted(cookie_data: Any, rule: Any, *, strict_upstream: bool = False) -> MetricValue:
    """1 if no cookie's host is one of the domains, ignoring a leading dot and `www.`.

    Args:
        cookie_data: rows of the table `cookies`; None = no file.
        rule: `{"type": "domains", "domains": [...]}`.
        strict_upstream: the public suffix is ignored: a cookie of amazon.de is one of amazon.com.
    """
    return without_cookies(cookie_data, rule, same_osworld if strict_upstream else same)


@register(PluginKind.METRIC, "is_cookie_deleted", dialect="waa")
def is_cookie_deleted_waa(cookie_data: Any, rule: Any, *, strict_upstream: bool = False) -> MetricValue:
    """`is_cookie_deleted` of WindowsAgentArena, which compares hosts differently.

    1 if no cookie's host is one of the domains, ignoring a leading dot and `www.`.

    Args:
        cookie_data: rows of the table `cookies`; None = no file.
        rule: `{"type": "domains", "domains": [...]}`.
        strict_upstream: only a host in the domain's exact spelling counts: `www.amazon.com` does not match
            `.amazon.com`.
    """
    return without_cookies(cookie_data, rule, same_waa if strict_upstream else same)
