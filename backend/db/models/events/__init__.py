"""Tables: events of runs."""
