"""`execute` as the tasks of WindowsAgentArena mean it: an exit code is not looked at."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._execute import ExecuteStep


@register(PluginKind.SETUP, "execute", dialect="waa")
class ExecuteWaa(ExecuteStep):
    """See `ExecuteStep`. Only a program that is not there, or does not end, is a failure."""

    any_exit_code = True
