"""Tables: attempts, their evaluations and evidence."""
