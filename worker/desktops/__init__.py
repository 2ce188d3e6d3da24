"""The client of the guest API: how the service reaches a desktop, whoever made it."""

from worker.desktops.guest import GuestDesktop

__all__ = ["GuestDesktop"]
