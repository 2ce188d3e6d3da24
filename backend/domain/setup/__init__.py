"""Set-up step types, one file each; `run_steps` runs a task's list of them."""
