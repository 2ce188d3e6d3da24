"""Stored bytes, and the SSRF-safe HTTP client that downloads them."""
