"""The five published suites: papers, files, and how they are imported."""

from backend.domain.model.task import Frozen


class SuitePaper(Frozen):
    """A published suite.

    Attributes:
        name: importer, and name of its figures in `reported_results.csv`.
        files: where the files are published; empty: nowhere.
        how: command that imports them.
        guide: page of the documentation.
    """

    name: str
    title: str
    paper: str
    year: int
    licence: str
    files: str = ""
    how: str
    guide: str
    about: str


SUITE_PAPERS = (
    SuitePaper(
        name="osworld",
        title="OSWorld",
        paper="OSWorld: Benchmarking Multimodal Agents for Open-Ended Tasks in Real Computer Environments",
        year=2024,
        licence="Apache-2.0",
        files="https://github.com/xlang-ai/OSWorld",
        how="deskarena benchmark import osworld OSWorld",
        guide="benchmarks/osworld-and-waa",
        about="369 tasks on Ubuntu, 49 on Windows.",
    ),
    SuitePaper(
        name="waa",
        title="WindowsAgentArena",
        paper="Windows Agent Arena: Evaluating Multi-Modal OS Agents at Scale",
        year=2024,
        licence="MIT",
        files="https://github.com/microsoft/WindowsAgentArena",
        how="deskarena benchmark import waa WindowsAgentArena",
        guide="benchmarks/osworld-and-waa",
        about="154 tasks on Windows, each with a variant without context.",
    ),
    SuitePaper(
        name="omnibench",
        title="OmniBench",
        paper="What Limits Virtual Agent Application? OmniBench: A Scalable Multi-Dimensional Benchmark for Essential "
        "Virtual Agent Capabilities",
        year=2025,
        licence="",
        how="deskarena benchmark import omnibench FOLDER",
        guide="benchmarks/omnibench",
        about="Graphs of subtasks, graded by five complexities, for ten capabilities.",
    ),
    SuitePaper(
        name="windowsworld",
        title="WindowsWorld",
        paper="WindowsWorld: A Process-Centric Benchmark of Autonomous GUI Agents in Professional Cross-Application "
        "Environments",
        year=2026,
        licence="Apache-2.0",
        files="https://github.com/HITsz-TMG/WindowsWorld",
        how="deskarena benchmark import windowsworld WindowsWorld",
        guide="benchmarks/windowsworld",
        about="181 tasks of 16 personas on four levels, with checkpoints.",
    ),
    SuitePaper(
        name="prosoftarena",
        title="ProSoftArena",
        paper="ProSoftArena: Benchmarking Hierarchical Capabilities of Multi-modal Agents in Professional Software "
        "Environments",
        year=2026,
        licence="",
        how="deskarena benchmark import prosoftarena FOLDER",
        guide="benchmarks/prosoftarena",
        about="Professional software on four levels. Only the supplement is available, which has no result tables.",
    ),
)
