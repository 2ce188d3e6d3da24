"""What is particular to Windows."""
