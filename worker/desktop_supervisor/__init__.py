"""Desktop supervisor: one small process per worker that starts desktops and ends them when the worker dies.

Parent-death signals follow threads, not processes, so a multi-threaded worker cannot be the parent of its desktops. The
supervisor has one thread, imports the standard library only, and watches the worker's end of a socket pair and its
process.
"""

MAX_MESSAGE = 2**20
"""Bytes of one message between a worker and its desktop supervisor."""
