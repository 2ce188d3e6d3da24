"""Studies: grids of conditions, read as paired differences."""
