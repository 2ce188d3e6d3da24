"""Live streams over websockets. Async; no database session is held while one waits."""
