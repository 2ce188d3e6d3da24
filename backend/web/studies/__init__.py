"""API and pages: studies: grids of conditions and their results."""
