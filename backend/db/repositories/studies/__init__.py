"""Queries: studies: grids of conditions and their results."""
