"""Who gets the next free slot, and why the others wait."""
