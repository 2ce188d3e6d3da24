"""Generates files from textual descriptions by rules; deterministic for the same description.

The rules read titles and headings, columns and their values, numbers of rows, named values and sizes, and ignore the
rest. A model may write the content instead, once for all attempts (`written`).
"""

from backend.domain.file_generators.make import KINDS, FileRequest, age_days, asks_for_today, make
from backend.domain.file_generators.written import asset_of, writable, write

__all__ = ["KINDS", "FileRequest", "age_days", "asks_for_today", "asset_of", "make", "writable", "write"]
