"""Tables: configurations of agents."""
