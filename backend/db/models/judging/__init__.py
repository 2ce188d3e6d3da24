"""Tables: judges, and reviews by people."""
