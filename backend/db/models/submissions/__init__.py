"""Tables: work that people compare."""
