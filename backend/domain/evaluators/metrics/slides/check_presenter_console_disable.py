"""`check_presenter_console_disable`: LibreOffice Impress' presenter console is disabled."""

from backend.domain.evaluators.metrics._libreoffice_settings import is_off, read_setting
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_PLACE = "/org.openoffice.Office.Impress/Misc/Start"


@register(PluginKind.METRIC, "check_presenter_console_disable")
def check_presenter_console_disable(result: str | None) -> MetricValue:
    """1 if `EnablePresenterScreen` is switched off.

    Args:
        result: path of `registrymodifications.xcu`.
    """
    value, reason = read_setting(result, _PLACE, "EnablePresenterScreen")
    if value is None:
        return verdict(met=False, reason=reason)
    return verdict(is_off(value), f"EnablePresenterScreen is {short(value)}, expected 'false'")
