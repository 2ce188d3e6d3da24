"""One attempt, from the opened desktop to the stored score."""
