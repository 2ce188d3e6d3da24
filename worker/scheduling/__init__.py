"""Which work this worker takes, and what keeps its leases alive."""
