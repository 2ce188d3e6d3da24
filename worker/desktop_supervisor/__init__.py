"""The keeper: one small process per worker that starts desktops and takes them along when the worker dies.

Parent-death signals follow threads, not processes, so a worker with threads cannot be the parent of its desktops. The
keeper has one thread, imports the standard library only, and watches the worker's end of a socket pair and its process.
"""
