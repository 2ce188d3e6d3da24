"""`proxy`: makes the operator's proxy the desktop's way out."""

from collections.abc import Mapping
from typing import Any

from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Proxy(Parameters):
    client_password: str = ""


@register(PluginKind.SETUP, "proxy")
class Proxy:
    """`client_password` (not needed here). The desktop's egress gateway is its proxy already.

    Upstream installs a proxy in the desktop and gives it the address of another one. Here the gateway does that for
    every task that asks for it (docs/assets.md); the step makes sure that the operator has given an address.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Proxy.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        _Proxy.parse(parameters)
        context.secret("upstream_proxy")
