"""Own tasks before they count: what a draft holds, how it moves, what a review looks at. See docs/own-tasks.md."""
