"""Tables: studies: grids of conditions and their results."""
