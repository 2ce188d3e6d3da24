"""Converts WindowsWorld's `environment_setup`: steps that create files, and destinations of downloads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.benchmarks._windowsworld_format import FileToCreate, WindowsWorldTask
from backend.domain.benchmarks._windowsworld_names import HOME, path_of, persona_of
from backend.domain.file_generators import FileRequest
from backend.domain.file_generators import asset_of as written_asset
from backend.domain.model.task import JSON, SetupStep

MOCKED = "This page stands in for {url} while a task is measured."


@dataclass(frozen=True)
class SharedAssets:
    """Files and assets shared by the tasks of a file.

    Attributes:
        prompts: (persona, path) -> all descriptions of that file in the persona's tasks, in order.
        assets: names of the assets beside the file.
    """

    prompts: Mapping[tuple[str, str], tuple[str, ...]]
    assets: Collection[str] = ()


def shared_files(entries: Sequence[WindowsWorldTask], assets: Collection[str] = ()) -> SharedAssets:
    """Contents of each file: tasks of one persona that name the same file share it.

    Protocols reference, section 7: files of one persona's tasks are merged into consistent shared files.
    """
    prompts_by_file: dict[tuple[str, str], dict[str, None]] = {}
    for entry in entries:
        for file in entry.environment_setup.files_to_create:
            prompts = prompts_by_file.setdefault((persona_of(entry.persona), where(file)), {})
            prompts[file.content_generation_prompt] = None
    return SharedAssets({key: tuple(prompts) for key, prompts in prompts_by_file.items()}, assets)


def where(file: FileToCreate) -> str:
    """The path of a file to create; some entries repeat the name in the folder."""
    folder = file.file_path
    if folder.replace("/", "\\").rstrip("\\").endswith(file.filename):
        return path_of(folder.rstrip("\\/"))
    separator = "/" if folder.startswith("/") else "\\"
    return path_of(folder.rstrip("\\/") + separator + file.filename)


def setup_of(entry: WindowsWorldTask, shared: SharedAssets) -> tuple[SetupStep, ...]:
    """The set-up steps of a task: files, downloads, then our own steps."""
    files = {where(file): file for file in entry.environment_setup.files_to_create}
    steps = [SetupStep(type="generate_file", parameters=_file(entry, path, files, shared)) for path in files]
    resources = entry.environment_setup.downloadable_resources
    if resources:
        brought = [{"url": resource.url, "path": resource_path(resource.save_as)} for resource in resources]
        steps.append(SetupStep(type="download", parameters={"files": brought}))
    steps += [SetupStep(type=step.type, parameters=step.parameters) for step in entry.deskarena.setup]
    return tuple(steps)


def _file(
    entry: WindowsWorldTask, path: str, files: Mapping[str, FileToCreate], shared: SharedAssets
) -> dict[str, JSON]:
    file = files[path]
    # "The same, but ..." refers to the previous file of the list.
    before = list(files)[: list(files).index(path)]
    like = [files[number].content_generation_prompt for number in before if files[number].file_type == file.file_type]
    prompts = shared.prompts[persona_of(entry.persona), path]
    kind = file.file_type.lower().lstrip(".")
    spec: dict[str, JSON] = {"path": path, "file_type": kind, "prompts": list(prompts)}
    spec |= {"like": like[0]} if like else {}
    written = written_asset(kind, FileRequest.from_parameters(spec))
    return spec | ({"asset": f"asset:{written}"} if written in shared.assets else {})


def resource_path(save_as: str) -> str:
    """Destination of a download.

    An entry with a folder belongs to the initial state and goes to the desktop. The agent itself has to download the
    others: they go to a folder that no task uses, and the gateway serves them at their addresses.
    """
    if save_as.startswith("/"):
        return save_as
    folder = f"{HOME}\\Desktop" if "\\" in save_as or "/" in save_as else f"{HOME}\\Documents\\Resources"
    return path_of(f"{folder}\\{save_as}")


def mocks_of(entry: WindowsWorldTask) -> dict[str, str]:
    """Address -> asset for everything that the gateway serves in place of the web."""
    mocked = {url: asset_of(url) for url in entry.environment_setup.urls_to_mock}
    return mocked | dict(entry.deskarena.mocks)


def asset_of(url: str) -> str:
    """The name of the page that replaces an address."""
    plain = url.split("://", 1)[-1].strip("/")
    return "mock/" + "".join(char if char.isalnum() or char in "._-" else "_" for char in plain)[:150] + ".html"
