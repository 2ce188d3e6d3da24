"""The observation space of an attempt's agent, with the run's options."""

from backend.domain import registry
from backend.domain.model.run import RunConfig
from backend.domain.ports.agent import Agent, ObservationSpace, PerceptionTools
from backend.domain.registry import PluginKind
from backend.domain.screen.image import PictureSpace, changes
from backend.domain.screen.with_tree import TreeSpace


def observation_space(config: RunConfig, plugin: type[Agent], eyes: PerceptionTools | None) -> ObservationSpace:
    """Args: config: the run's; plugin: the agent, which may need more; eyes: perception tools for the desktop."""
    space_type: type[ObservationSpace] = registry.lookup(
        PluginKind.OBSERVATION, config.observation or plugin.observation
    )
    space: ObservationSpace = space_type(space_type.Params.model_validate(dict(config.observation_params or {})), eyes)
    if getattr(plugin, "needs_tree", False):
        space = TreeSpace(space)
    return PictureSpace(space, config.image) if config.image is not None and changes(config.image) else space
