"""Drafts of own tasks: content, states, review checks. See docs/own-tasks.md."""
