"""Accessibility trees as the guest servers of several projects write them."""

from xml.sax.saxutils import escape, quoteattr

UBUNTU = {
    "st": "https://accessibility.ubuntu.example.org/ns/state",
    "attr": "https://accessibility.ubuntu.example.org/ns/attributes",
}
WINDOWS = {prefix: name.replace("ubuntu", "windows") for prefix, name in UBUNTU.items()}
DESKAT = {"st": "uri:deskat:state.at-spi.gnome.org", "attr": "uri:deskat:attributes.at-spi.gnome.org"}
"""WindowsAgentArena's names."""


def mail_window(names: dict[str, str] | None = None, *, addresses: tuple[str, ...] = ("fox@example.edu",)) -> str:
    """A message window of Thunderbird with the receivers as pills."""
    declared = " ".join(f"xmlns:{prefix}={quoteattr(name)}" for prefix, name in (names or UBUNTU).items())
    pills = "".join(
        f'<panel name="" attr:class="address-pill"><label name={quoteattr(address)} attr:class="pill-label">'
        f"{escape(address)}</label></panel>"
        for address in addresses
    )
    return (
        f"<desktop-frame {declared}><application name='Thunderbird'><frame name='Inbox'>"
        f"<tool-bar name='' attr:id='MsgHeadersToolbar'><label name='To'/>{pills}</tool-bar>"
        "<entry name='Subject' st:focused='true'>Quarterly report</entry></frame></application></desktop-frame>"
    )


def long_tree(size: int) -> str:
    """A tree of about this many bytes."""
    rows = "".join(
        f"<label name='row {number}' attr:id='r{number}'>text of row {number}</label>" for number in range(size // 60)
    )
    return mail_window().replace("<frame name='Inbox'>", f"<frame name='Inbox'>{rows}", 1)
