"""The rules of `compare_table`, one file per rule type: its options and its verdict."""
