"""`command` as the tasks of OSWorld mean it: an exit code is not looked at."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._execute import ExecuteStep


@register(PluginKind.SETUP, "command", dialect="osworld")
class CommandOsworld(ExecuteStep):
    """See `ExecuteStep`. Only a program that is not there, or does not end, is a failure."""

    any_exit_code = True
