"""All queries, one file per thing that is asked for. No rules here: those are in `backend.services`.

Lock order, which every function keeps: lease (only to claim), run, episode, attempt, lease. Whoever changes an
episode, an attempt or a run holds the run's row lock first, so that a run's history has one order.
"""
