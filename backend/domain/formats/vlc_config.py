"""Reads VLC's configuration file `vlcrc`: `key=value` lines; a commented line shows a default."""

from backend.domain.formats.text import read_text


def read_settings(path: str | None) -> tuple[dict[str, str] | None, str]:
    """The active settings, the last of each key, or the reason why there are none.

    Returns:
        (key -> value, "") or (None, reason). A file without settings is valid: VLC then uses its defaults.
    """
    text, reason = read_text(path)
    if text is None:
        return None, reason
    if "\0" in text:
        return None, "the file is not text"
    lines = (line.split("=", 1) for line in text.split("\n") if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in lines}, ""


def last_line_with(path: str | None, part: str) -> tuple[str | None, str]:
    """The text after the last `=` of the last line that contains `part`, including comments, as OSWorld reads the file.

    Returns:
        (value, ""), (None, "") if no line does, or (None, reason).
    """
    text, reason = read_text(path)
    if text is None:
        return None, reason
    lines = [line for line in text.split("\n") if part in line]
    return (lines[-1].split("=")[-1].strip() if lines else None), ""
