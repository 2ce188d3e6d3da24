"""Tables: judges, and the people who check them."""
