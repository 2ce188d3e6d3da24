"""Studies: grids of conditions and their results."""
