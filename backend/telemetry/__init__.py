"""What a process tells its operators: metrics of its own and its log."""
