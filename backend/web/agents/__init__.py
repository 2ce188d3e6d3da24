"""API and pages: agents from outside: their tokens and their channel."""
