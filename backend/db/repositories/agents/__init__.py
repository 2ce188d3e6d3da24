"""Queries: agents from outside: their tokens and their channel."""
