"""Tables: drafts of own tasks."""
