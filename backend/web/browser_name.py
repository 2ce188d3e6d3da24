"""Browser and system of a user agent, such as `Firefox on Linux`.

User agents name each other (for their grammar see RFC 9110, section 10.1.5): the most specific name comes first here.
"""

import re

BROWSERS = (
    ("Edg", "Edge"), ("OPR", "Opera"), ("SamsungBrowser", "Samsung Internet"), ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"), ("CriOS", "Chrome"), ("HeadlessChrome", "Chrome"), ("Chromium", "Chromium"),
    ("Chrome", "Chrome"), ("Safari", "Safari"),
)  # fmt: skip
SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
    ("Macintosh", "macOS"), ("Linux", "Linux"),
)  # fmt: skip
_PROGRAM = re.compile(r"[\w.+-]{1,40}(?=/\d)")


def browser_name(user_agent: str) -> str:
    """Browser and system; of other programs their name, such as `curl`; else `unknown`."""
    browser = next((name for token, name in BROWSERS if token in user_agent), "")
    if not browser or not user_agent.startswith("Mozilla/"):
        program = _PROGRAM.match(user_agent)
        return program[0] if program and program[0] != "Mozilla" else "unknown"
    system = next((name for token, name in SYSTEMS if token in user_agent), "")
    return f"{browser} on {system}" if system else browser
