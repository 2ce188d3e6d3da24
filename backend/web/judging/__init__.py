"""API and pages: judges, and the people who check them."""
