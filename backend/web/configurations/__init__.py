"""Web: configurations of agents."""
