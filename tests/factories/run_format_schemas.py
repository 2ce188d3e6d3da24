"""JSON Schemas that the libraries of other tools have written (docs/read-results.md names their versions)."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs

SCHEMAS = Path(__file__).parents[1] / "samples" / "run_formats"


def validator(name: str, of: str = "") -> Any:
    """Of a format's document, or of one of its parts."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return jsonschema_rs.validator_for({"$defs": schema["$defs"], "$ref": f"#/$defs/{of}"} if of else schema)
