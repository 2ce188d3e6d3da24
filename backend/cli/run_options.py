"""Options of `deskarena run submit`."""

from typing import Annotated

import typer

BenchmarkName = Annotated[str, typer.Option("--benchmark", help="Benchmark name.")]
AgentName = Annotated[str, typer.Option("--agent", help="Agent name.")]
Params = Annotated[
    list[str] | None, typer.Option("--param", metavar="K=V", help=("Agent parameter; V may be JSON (repeatable)."))
]
ProviderName = Annotated[str, typer.Option("--provider", help="Provider of the desktops.")]
DesktopImage = Annotated[
    str | None,
    typer.Option("--desktop-image", metavar="NAME", help=("Desktop image (default: the provider's choice).")),
]
ScreenOption = Annotated[
    str | None,
    typer.Option("--screen", metavar="WxH", help="Screen size in pixels (default: 1920x1080)."),
]
Selection = Annotated[
    list[str] | None,
    typer.Option("--selection", metavar="NAME", help="Only tasks of this named selection (repeatable)."),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="LABEL=VALUE",
        help="Only tasks with this label, such as level=L3; values of one label are alternatives (repeatable).",
    ),
]
Variant = Annotated[
    str | None,
    typer.Option("--variant", metavar="AXIS=VALUE", help=("Use a variant of the tasks, such as context=none.")),
]
Repeats = Annotated[int, typer.Option("--repeats", min=1, max=100, help="Episodes per task.")]
Preset = Annotated[
    str | None,
    typer.Option("--preset", help=("Published settings of a benchmark, such as osworld; other options override it.")),
]
Observation = Annotated[str | None, typer.Option("--observation", help="Observation space (default: the agent's own).")]
ObservationParam = Annotated[
    list[str] | None,
    typer.Option("--observation-param", metavar="K=V", help=("Option of the observation space (repeatable).")),
]
ActionSpace = Annotated[str | None, typer.Option("--action-space", help="Action space (default: the agent's own).")]
ActionParam = Annotated[
    list[str] | None,
    typer.Option("--action-param", metavar="K=V", help=("Option of the action space (repeatable).")),
]
ImageOption = Annotated[
    list[str] | None,
    typer.Option(
        "--image",
        metavar="K=V",
        help=("Option for the agent's pictures, such as scale=0.5 or fit=[1024,1024] (repeatable)."),
    ),
]
Judge = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="K=V",
        help="Option of the judge model, such as endpoint=openai, model=NAME or votes=3 (repeatable).",
    ),
]
MaxSteps = Annotated[int | None, typer.Option("--max-steps", min=1, help="Maximum steps per episode.")]
MaxSeconds = Annotated[float | None, typer.Option("--max-seconds", min=1, help=("Maximum seconds per episode."))]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=1, help="Maximum tokens per episode.")]
MaxUsd = Annotated[float | None, typer.Option("--max-usd", min=0, help=("Maximum cost per episode in US dollars."))]
Seed = Annotated[int, typer.Option("--seed", min=0, help=("Random seed from which each episode's seed is derived."))]
RunName = Annotated[str, typer.Option("--name", help="Name of the run.")]
IdempotencyKey = Annotated[
    str | None,
    typer.Option("--idempotency-key", help=("Submitting again with the same key returns the existing run.")),
]
