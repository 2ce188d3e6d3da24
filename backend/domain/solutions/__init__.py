"""Oracle solutions: their steps in task files, and their execution on a screen."""
