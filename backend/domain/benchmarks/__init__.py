"""Benchmark readers, one file each: a published benchmark's files -> Tasks."""
