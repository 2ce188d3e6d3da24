"""Agents from outside: their tokens and their channel."""
