"""Virtual machines by QEMU: templates, clones, and the supervisor that holds one slot's machines.

What runs in the supervisor (`supervisor.py` and all it imports) needs the standard library only, so that it runs the
same on a host and inside a pod.
"""
