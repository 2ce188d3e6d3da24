"""Who gets the next free slot, and why others wait."""
