"""Files of a Thunderbird profile: folders (mbox), filters, settings."""

from collections.abc import Sequence
from pathlib import Path


def message(subject: str, body: str = "Hello", *, status: str = "0001", keys: str = "") -> str:
    """A message as Thunderbird keeps it."""
    return (
        "From - Sat Jan 20 10:00:00 2024\n"
        f"X-Mozilla-Status: {status}\nX-Mozilla-Status2: 00000000\nX-Mozilla-Keys: {keys:<80}\n"
        f"From: Ann <ann@example.org>\nTo: bob@example.org\nSubject: {subject}\nMIME-Version: 1.0\n"
        f"Content-Type: text/plain; charset=UTF-8\n\n{body}\n\n"
    )


def folder(path: Path, messages: Sequence[str]) -> str:
    """Writes a folder's file."""
    path.write_text("".join(messages))
    return str(path)


def mail_filter(name: str, *, action: str, value: str, condition: str, enabled: str = "yes") -> str:
    """A filter, as `msgFilterRules.dat` holds it."""
    rows = {"name": name, "enabled": enabled, "type": "17", "action": action, "actionValue": value}
    rows["condition"] = condition
    return "".join(f'{key}="{text}"\n' for key, text in rows.items())


def filters(path: Path, *lines: str) -> str:
    """Writes `msgFilterRules.dat`."""
    path.write_text('version="9"\nlogging="no"\n' + "".join(lines))
    return str(path)


def prefs(path: Path, *lines: str) -> str:
    """Writes `prefs.js`; each line is `"name", value` as JavaScript."""
    head = "// Mozilla User Preferences\n\n"
    path.write_text(head + "".join(f"user_pref({line});\n" for line in lines))
    return str(path)
