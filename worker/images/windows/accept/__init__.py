"""Accepting a Windows image on a machine with an install medium and KVM: `vm_images/windows/accept` starts it.

Everything that could not be tried where this was written, in one go, with one report to send back: the build, the first
start, the health gate, every route of the guest API, a template and twenty resets, ten tasks of WindowsAgentArena.
"""
