"""What observation spaces may use beside the desktop."""
