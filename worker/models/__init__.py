"""One file per model API; each implements the ModelClient port."""
