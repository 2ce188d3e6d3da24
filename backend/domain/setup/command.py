"""`command`: runs a program in the desktop and waits for it."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._execute import ExecuteStep


@register(PluginKind.SETUP, "command")
class CommandStep(ExecuteStep):
    """See `ExecuteStep`: upstream has the step type under two names."""
