"""The kinds of letters for which office programs keep fonts apart."""

import re

_EAST_ASIAN = re.compile(
    "[\u1100-\u11ff\u2e80-\u30ff\u3100-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffef"
    "\U00020000-\U0003ffff]"
)
_COMPLEX = re.compile("[\u0590-\u109f\u1780-\u18af\ufb1d-\ufdff\ufe70-\ufefe]")
_WESTERN = re.compile("[\u00c0-\u058f\u10a0-\u10ff\u1e00-\u1fff]")
_KINDS = {"ascii": re.compile("[!-~]"), "hAnsi": _WESTERN, "eastAsia": _EAST_ASIAN, "cs": _COMPLEX}


def script_kinds(text: str) -> set[str]:
    """Of `ascii`, `hAnsi` (other Western), `eastAsia` and `cs` (complex scripts such as Arabic) those in the text.

    Signs and blanks that any font may show are of no kind. Source: ECMA-376, part 1, 17.3.2.26.
    """
    return {kind for kind, letters in _KINDS.items() if letters.search(text)}
