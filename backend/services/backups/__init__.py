"""Backups of database and artifacts: made, restored and verified."""
