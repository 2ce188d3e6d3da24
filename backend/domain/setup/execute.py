"""`execute`: runs a program in the desktop and waits for it. `command` is the same: upstream has two names for it."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._execute import ExecuteStep


@register(PluginKind.SETUP, "command")
@register(PluginKind.SETUP, "execute")
class Execute(ExecuteStep):
    """Runs a program in the desktop and waits for it; an exit code other than 0 is a failure."""


@register(PluginKind.SETUP, "command", dialect="osworld")
@register(PluginKind.SETUP, "command", dialect="waa")
@register(PluginKind.SETUP, "execute", dialect="osworld")
@register(PluginKind.SETUP, "execute", dialect="waa")
class ExecuteWithAnyExitCode(ExecuteStep):
    """`execute` of OSWorld and WindowsAgentArena: the exit code is ignored.

    Only a missing program, or one that does not end, is an error.
    """

    any_exit_code = True
