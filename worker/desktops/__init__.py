"""Client of the guest API, for desktops of every provider."""

from worker.desktops.guest import GuestDesktop

__all__ = ["GuestDesktop"]
