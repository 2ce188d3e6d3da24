"""Forms of training data, one file each."""
