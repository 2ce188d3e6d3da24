"""Queries: studies: grids of conditions and what they come to."""
