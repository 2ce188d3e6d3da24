"""Saved views of boards, public links to them, and badges."""
