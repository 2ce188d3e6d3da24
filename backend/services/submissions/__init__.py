"""Work that people compare."""
