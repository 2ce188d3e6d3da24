"""What all parts of a worker stand on: leases, threads, the database."""
