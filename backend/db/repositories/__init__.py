"""All queries, one module per subject. Rules are in `backend.services`.

Lock order of every function: lease (only to claim), run, episode, attempt, lease. Changing an episode, an attempt or a
run requires the run's row lock first, so that a run's history has one order.
"""
