"""Studies: grids of conditions and what they come to."""
