import pytest

from backend.web.browser_name import browser_name

CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", "Firefox on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME}", "Chrome on Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Edg/131.0.0.0", "Edge on Windows"),
        (f"Mozilla/5.0 (Linux; Android 10; K) {CHROME}", "Chrome on Android"),
        (f"{IPHONE} Version/18.1 Mobile/15E148 Safari/604.1", "Safari on iPhone"),
        (f"{IPHONE} CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1", "Chrome on iPhone"),
        ("curl/8.5.0", "curl"),
        ("python-requests/2.32.3", "python-requests"),
        ("Mozilla/5.0", "unknown"),
        ("<script>Firefox", "unknown"),
        ("", "unknown"),
    ],
)
def test_common_browsers_are_named(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name
