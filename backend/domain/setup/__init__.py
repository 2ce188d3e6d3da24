"""Set-up step types, one file each; `run_steps` runs a task's list of them."""

from backend.domain.setup._steps import check_step, run_step, run_steps

__all__ = ["check_step", "run_step", "run_steps"]
