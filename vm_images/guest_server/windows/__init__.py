"""Windows implementation of the guest server's desktop."""
