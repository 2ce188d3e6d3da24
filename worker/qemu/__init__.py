"""Virtual machines with QEMU: templates, clones, and the supervisor of one slot's machines.

Code that runs in the supervisor (`supervisor.py` and its imports) uses the standard library only, so that it runs on a
host and inside a pod.
"""
