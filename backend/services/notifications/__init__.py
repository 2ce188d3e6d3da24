"""Notifications about a project by signed webhooks and e-mail."""
