"""Cases of the metrics of Thunderbird."""

from pathlib import Path

from tests.factories.mailbox import filters, folder, mail_filter, message, prefs
from tests.factories.metric_cases import Call, MetricCase

RULES = {
    "expect": {
        "mail.server.default.applyIncomingFilters": {"method": "eq", "ref": True},
        "mail.imap.use_status_for_biff": {"method": "eq", "ref": False},
    },
    "unexpect": {"mail.server.default.autosync_offline_stores": {"method": "eq", "ref": False}},
}
PLACE = "mailbox://nobody@Local%20Folders/Promotions"
PROMOTIONS = {
    "enabled": "yes",
    "action": "Move to folder",
    "actionValue": PLACE,
    "condition": ["AND (subject,contains,discount)"],
}


def settings(place: Path, biff: str, lines: int = 0) -> Call:
    more = (f'"mail.filler.number{number:06}", "{number}"' for number in range(lines))
    wanted = ('"mail.server.default.applyIncomingFilters", true', f'"mail.imap.use_status_for_biff", {biff}')
    return Call((prefs(place / "prefs.js", *more, *wanted), RULES))


def rules(place: Path, condition: str, number: int = 0) -> Call:
    other = mail_filter("Other", action="Forward", value="a@example.org", condition="AND (from,is,a)")
    mine = mail_filter("Discounts", action="Move to folder", value=PLACE, condition=condition)
    return Call((filters(place / "msgFilterRules.dat", other * number, mine), {"expect": [PROMOTIONS]}))


def folders(place: Path, subjects: list[str], number: int = 0) -> Call:
    many = [message(f"No. {n}", "x" * 500) for n in range(number)]
    inbox = folder(place / "Bills", [*(message(subject, status="0000") for subject in subjects), *many])
    gold = folder(place / "Bills_gold", [*many, message("Invoice"), message("Receipt")])
    return Call((inbox, gold))


CASES = {
    "check_thunderbird_prefs": MetricCase(
        passing=lambda place: settings(place, "false"),
        near_miss=lambda place: settings(place, "true"),
        sized=lambda place, size: settings(place, "false", size // 48),
    ),
    "check_thunderbird_filter": MetricCase(
        passing=lambda place: rules(place, "AND (subject,contains,discount)"),
        near_miss=lambda place: rules(place, "AND (subject,contains,discounts)"),
        sized=lambda place, size: rules(place, "AND (subject,contains,discount)", size // 125),
    ),
    "check_thunderbird_folder": MetricCase(
        passing=lambda place: folders(place, ["Receipt", "Invoice"]),
        near_miss=lambda place: folders(place, ["Receipt", "invoice"]),
        sized=lambda place, size: folders(place, ["Receipt", "Invoice"], size // 820),
    ),
}
