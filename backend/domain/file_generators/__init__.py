"""Files made from a description in words, by rules: the same words, the same bytes.

What the rules read: titles and headings, columns and their values, numbers of rows, values that are named, sizes. What
they do not understand they leave out; a model may write the content instead, once for all attempts (`written`).
"""

from backend.domain.file_generators.make import KINDS, FileRequest, age_days, asks_for_today, make
from backend.domain.file_generators.written import asset_of, writable, write

__all__ = ["KINDS", "FileRequest", "age_days", "asks_for_today", "asset_of", "make", "writable", "write"]
