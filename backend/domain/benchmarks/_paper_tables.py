"""Tables of the five papers as cuts: which label and value each of their columns is, and which measure it shows.

Columns are in the papers' order. Where a paper has subsets as rows and agents as columns, or one table per agent, the
table is turned, so that agents are rows everywhere. Source: the papers; their figures are in `reported_results.csv`.
"""

from collections.abc import Iterator, Mapping, Sequence

from backend.domain.benchmarks._reported import ReportedFigure
from backend.domain.model.omnibench_labels import CAPABILITIES, COMPLEXITIES
from backend.domain.model.score import SCORE
from backend.domain.model.task import Difficulty, Frozen

SHARE = "share_of_tasks"
"""Measure of a table: the share of its tasks that a column has."""
STEPS = "steps"
"""Measure of a table: mean steps of scored episodes."""
DIFFICULTY = "difficulty"
"""Measure of a table: mean rating by people who did the tasks, 1 to 3."""
STEPS_DIFFICULTY, STEPS_SUCCESS, SUCCESS_DIFFICULTY = (
    f"spearman_{pair}" for pair in ("steps_difficulty", "steps_success", "success_difficulty")
)
"""Measures of a table: Spearman's correlations over the tasks that people did."""
MINUTES = "median_minutes"
"""Measure of a table: minutes of a run over all tasks, median over the passes."""
NODE_SIZE = "node_size"
"""Measure of a table whose rows are nodes: their size and price."""


class PaperColumn(Frozen):
    """One column.

    Attributes:
        title: as printed.
        label, value: the label of tasks and its value that the column is of; empty: all tasks.
        group: words for the column in `reported_results.csv`.
        kind: kind of that group; empty: any.
        measure: of the installation's own figures, if not that of the table's row.
        published: measure in `reported_results.csv`, if not that of the table's row.
    """

    title: str
    label: str = ""
    value: str = ""
    group: str = ""
    kind: str = ""
    measure: str = ""
    published: str = ""


class PaperTable(Frozen):
    """One table of a paper.

    Attributes:
        name: for addresses.
        kind: kind of benchmark that it is of.
        source: its figures in `reported_results.csv`; empty: the figures are not at hand.
        measures: measure of each row of an agent: published name to the installation's own, empty if it has none.
        columns: empty for one column per value of `label`.
        label: label whose values are the columns.
        heads: headings over several columns: (title, number of columns); empty without.
        unit: of its figures.
        figures: its figures, where `reported_results.csv` has none because they are not results.
        note: what the reader should know of it.
    """

    name: str
    title: str
    kind: str
    source: str = ""
    measures: Mapping[str, str]
    columns: tuple[PaperColumn, ...] = ()
    label: str = ""
    heads: tuple[tuple[str, int], ...] = ()
    unit: str = "percent"
    figures: tuple[ReportedFigure, ...] = ()
    note: str = ""


SCORES = {"success_rate": SCORE}
"""Papers print a mean of scores as success rate. Protocols reference, section 1."""


def _columns(label: str, values: Mapping[str, str], kind: str = "") -> tuple[PaperColumn, ...]:
    """One column per printed title, with the label's value of each."""
    return tuple(PaperColumn(title=title, label=label, value=value, group=title, kind=kind)
                 for title, value in values.items())  # fmt: skip


def _whole(title: str, **more: str) -> PaperColumn:
    return PaperColumn(title=title, group=title, kind="overall", **more)


NODE_COLUMNS = ("Cores", "RAM", "Storage", "Price per hour")
_NODE_TABLE = "WindowsAgentArena paper, Table 8"
_NODES = {
    "Standard_D2_v3": ("2", "8", "50", "0.096"),
    "Standard_D4_v3": ("4", "16", "100", "0.192"),
    "Standard_D8_v3": ("8", "32", "200", "0.384"),
    "Standard_D16_v3": ("16", "64", "400", "0.768"),
}
"""WAA's table 8: cores, GB of memory, GB of storage, USD per hour."""


def _node_figures() -> Iterator[ReportedFigure]:
    for name, values in _NODES.items():
        for title, printed in zip(NODE_COLUMNS, values, strict=True):
            yield ReportedFigure(
                source=_NODE_TABLE,
                agent=name,
                inputs="",
                measure=NODE_SIZE,
                group_kind="",
                group=title,
                value=float(printed),
                printed=printed,
                unit="",
                note="",
            )


_WAA_DOMAINS = (
    *_columns("domain", {"LibreOffice Calc": "libreoffice_calc", "LibreOffice Writer": "libreoffice_writer"}),
    *_columns("group", {"Windows System": "Windows System", "Windows Utilities": "Windows Utilities"}),
    *_columns("domain", {"VLC Player": "vlc", "VS Code": "vs_code"}),
    *_columns("group", {"Web Browsing": "Web"}),
    _whole("Overall"),
)
"""Columns of its tables 6 and 7."""
_WAA = (
    PaperTable(
        name="waa-3",
        title="Success rate by category",
        kind="waa",
        source="WindowsAgentArena paper, Table 3",
        measures=SCORES,
        columns=(
            *_columns(
                "group",
                {
                    "Office": "Office",
                    "Web Browser": "Web",
                    "Windows System": "Windows System",
                    "Coding": "Coding",
                    "Media & Video": "Media",
                    "Windows Utils": "Windows Utilities",
                },
            ),
            _whole("Total"),
        ),
    ),
    PaperTable(
        name="waa-6",
        title="Steps, success and difficulty by domain",
        kind="waa",
        source="WindowsAgentArena paper, Table 6",
        measures={STEPS: STEPS, **SCORES, DIFFICULTY: DIFFICULTY},
        columns=_WAA_DOMAINS,
        unit="steps, percent, rating from 1 to 3",
        note="Published: a person. Steps per task; difficulty as rated by those who did the tasks.",
    ),
    PaperTable(
        name="waa-7",
        title="People: steps, success and difficulty together",
        kind="waa",
        source="WindowsAgentArena paper, Table 7",
        measures={name: name for name in (STEPS_DIFFICULTY, STEPS_SUCCESS, SUCCESS_DIFFICULTY)},
        columns=_WAA_DOMAINS,
        unit="Spearman's rank correlation",
        note="Over the tasks that a person has done and, for difficulty, rated from 1 to 3.",
    ),
    PaperTable(
        name="waa-8",
        title="Nodes and their price",
        kind="waa",
        source=_NODE_TABLE,
        measures={NODE_SIZE: NODE_SIZE},
        columns=tuple(PaperColumn(title=title, group=title) for title in NODE_COLUMNS),
        unit="cores, GB, price per hour",
        figures=tuple(_node_figures()),
        note="Published: USD as of August 2024, subject to change; the authors mainly used Standard_D8_v3. Own rows: "
        "prices of nodes in models.toml.",
    ),
    PaperTable(
        name="waa-9",
        title="Median minutes of a full run",
        kind="waa",
        source="WindowsAgentArena paper, Table 9",
        measures={MINUTES: MINUTES},
        columns=(_whole("full benchmark run"),),
        unit="minutes",
        note="Published: about 50 parallel runs. Own rows: time in which a pass over all tasks had an attempt, median "
        "over the passes.",
    ),
)
_OSWORLD = (
    PaperTable(
        name="osworld-5",
        title="Success rate by category and input",
        kind="osworld",
        source="OSWorld paper, Table 5",
        measures=SCORES,
        columns=(
            *_columns("group", {name: name for name in ("OS", "Office", "Daily", "Professional", "Workflow")}),
            _whole("Overall"),
        ),
    ),
    PaperTable(
        name="osworld-6",
        title="Subsets of tasks",
        kind="osworld",
        source="OSWorld paper, Table 6",
        measures={SHARE: SHARE, **SCORES},
        columns=(
            *_columns("difficulty", {"Easy": "easy", "Medium": "medium", "Hard": "hard"}),
            *_columns("feasible", {"Infeasible": "no", "Feasible": "yes"}),
            *_columns("apps_count", {"Single-App": "single", "Multi-App Workflow": "multi"}),
        ),
    ),
    PaperTable(
        name="osworld-14",
        title="Success rate by application",
        kind="osworld",
        source="OSWorld paper, Table 14",
        measures=SCORES,
        columns=_columns(
            "domain",
            {
                "OS": "os",
                "LibreOffice Calc": "libreoffice_calc",
                "LibreOffice Impress": "libreoffice_impress",
                "LibreOffice Writer": "libreoffice_writer",
                "VLC Player": "vlc",
                "Thunderbird": "thunderbird",
                "Chrome": "chrome",
                "VS Code": "vs_code",
                "GIMP": "gimp",
                "Workflow": "multi_apps",
            },
        ),
    ),
)
_ORDER = ("PP", "LRP", "CDDK", "SDK", "SI", "DI", "LSR", "LIF", "DSK", "CDK")
"""Capabilities in the order of OmniBench's table 4."""
_AXES = {"dependency": "Dependency", "branch": "Branch", "instruction": "Instruction", "knowledge": "Knowledge",
         "hierarchy": "Hierarchy"}  # fmt: skip
"""Complexities in the order of its table 5."""
_OMNIBENCH = (
    PaperTable(
        name="omnibench-4",
        title="Coverage rate by capability",
        kind="omnibench",
        source="OmniBench paper, Table 4",
        measures={"CR": "CR"},
        columns=(
            PaperColumn(title="Overall CR", group="Overall", kind="overall"),
            PaperColumn(title="Overall LC", group="Overall", kind="overall", measure="LC", published="LC"),
            *_columns("capability", {CAPABILITIES[letters]: letters for letters in _ORDER}),
        ),
    ),
    PaperTable(
        name="omnibench-5",
        title="Coverage rate by complexity",
        kind="omnibench",
        source="OmniBench paper, Table 5",
        measures={"performance": "CR"},
        columns=tuple(
            PaperColumn(
                title=level.value.capitalize(),
                label=f"complexity.{axis}",
                value=level.value,
                group=level.value.capitalize(),
                kind=f"complexity_{axis}",
            )
            for axis in _AXES
            for level in Difficulty
        ),
        heads=tuple((title, len(Difficulty)) for title in _AXES.values()),
        note="; ".join(f"{title}: {COMPLEXITIES[axis]}" for axis, title in _AXES.items()) + ".",
    ),
    PaperTable(
        name="omnibench-structure",
        title="Chains and graphs of subtasks",
        kind="omnibench",
        source="OmniBench paper, Section 5.2 (text)",
        measures={"accuracy": "CR"},
        columns=_columns("structure", {"chain-structured tasks": "chain", "graph-structured tasks": "graph"}),
        note="A study pairs chains and graphs of equal size; here all tasks of each kind count.",
    ),
)
_LEVELS = {"L1": "L1", "L2": "L2", "L3": "L3", "L4": "L4"}
_STATES = {"S_int": "S_int", "S_final": "S_final"}
_WINDOWSWORLD = (
    PaperTable(
        name="windowsworld-levels",
        title="Checkpoints and end states by level",
        kind="windowsworld",
        measures=_STATES,
        columns=(*_columns("level", _LEVELS), _whole("Overall")),
        note="S_int is of L1 to L3: infeasible tasks (L4) have no checkpoints. Chinese instructions are a variant.",
    ),
    PaperTable(
        name="windowsworld-personas",
        title="By persona",
        kind="windowsworld",
        measures=_STATES,
        label="persona",
    ),
    PaperTable(
        name="windowsworld-applications",
        title="By number of applications",
        kind="windowsworld",
        measures=_STATES,
        label="apps_number",
    ),
)
_PROSOFTARENA = tuple(
    PaperTable(name=f"prosoftarena-{name}", title=title, kind="prosoftarena", measures=SCORES, label=label)
    for name, title, label in (
        ("levels", "By level", "level"),
        ("disciplines", "By discipline", "discipline"),
        ("software", "By software", "software"),
    )
)
TABLES = (*_WAA, *_OSWORLD, *_OMNIBENCH, *_WINDOWSWORLD, *_PROSOFTARENA)


def paper_tables(kind: str) -> Sequence[PaperTable]:
    """The tables of a kind of benchmark, in the paper's order; empty without a paper."""
    return [table for table in TABLES if table.kind == kind]
