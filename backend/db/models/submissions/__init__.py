"""Tables: submissions that people compare."""
