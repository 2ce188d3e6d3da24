"""Claims work for this worker and keeps its leases alive."""
