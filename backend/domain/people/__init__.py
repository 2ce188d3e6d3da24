"""Actions of people: mouse and keyboard input, and submissions that people compare."""
