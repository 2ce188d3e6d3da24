"""The port of providers whose desktops are clones."""

from typing import Protocol, runtime_checkable

from backend.domain.ports.desktop import Availability, DesktopSpec


@runtime_checkable
class TemplateProvider(Protocol):
    """A provider whose desktops are clones of a template. It is made at the first need, or ahead by this."""

    name: str

    def availability(self) -> Availability:
        """As Provider's."""
        ...

    def template(self, spec: DesktopSpec) -> object:
        """Creates the template for cloning these desktops; returns at once if it exists.

        Raises:
            ClusterLost: it cannot be created here; the message says why.
            GuestLost: the image's guest never became ready, or is not well.
        """
        ...
