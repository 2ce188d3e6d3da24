"""The web edge: REST API, pages, live streams. Commits; nothing below it does."""
