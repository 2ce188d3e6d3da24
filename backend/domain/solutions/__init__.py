"""Oracle solutions: their steps as task files write them, and what they are on a screen."""
