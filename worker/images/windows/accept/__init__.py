"""Acceptance test of a Windows image on a machine with media and KVM, started by `vm_images/windows/accept`.

Tests everything that could not be tested during development and writes one report: the build, the first start, the
health check, every route of the guest API, a template and twenty resets, ten tasks of WindowsAgentArena.
"""
