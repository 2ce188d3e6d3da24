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
        """Returns when the template from which such desktops are cloned is there; at once if it is there already.

        Raises:
            ClusterLost: it cannot be made here; says why.
            GuestLost: the image's guest never became ready, or is not well.
        """
        ...
