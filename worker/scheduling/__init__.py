"""Which work this worker takes, and how its leases are kept alive."""
