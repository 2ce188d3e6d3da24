"""What people do: mouse and keyboard of theirs, and work that they compare."""
