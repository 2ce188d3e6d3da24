"""Current capabilities of this installation, merged from its online workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from backend.db.models.enums import FLOORS
from backend.db.repositories.benchmarks.task_groups import TaskNeeds
from backend.domain.errors import Unavailable
from backend.domain.machines.image_offers import ImageOffer
from backend.domain.model.reason import Reason, ReasonCode
from backend.services.capacity.worker_capabilities import Capabilities, capabilities
from backend.services.capacity.worker_offers import ModelView, models_of, offers_of_workers

LOCAL = "local"
"""The provider whose desktops a page has in mind where none was chosen."""


@dataclass(frozen=True)
class SlotsView:
    """Number of slots of a kind on one worker, and the reason; they may be a cluster's."""

    worker: str
    number: int
    reason: str
    of_cluster: bool = False


@dataclass(frozen=True)
class WorkerImages:
    """An image, and the workers that have it."""

    offer: ImageOffer
    workers: tuple[str, ...]


@dataclass(frozen=True)
class ProviderView:
    """A kind of desktop. `ok` if at least one online worker can create it; `reason` says why not, or its limits."""

    name: str
    ok: bool
    reason: str
    programs: frozenset[str]
    workers: tuple[str, ...]
    slots: tuple[SlotsView, ...] = ()
    images: tuple[WorkerImages, ...] = ()


@dataclass(frozen=True)
class AgentView:
    """An agent offered by workers, with the schema of its parameters."""

    name: str
    about: str
    schema: Mapping[str, Any]
    observation: str
    action_space: str
    privileged: bool


@dataclass(frozen=True)
class RunOptions:
    """All choices for a run."""

    providers: list[ProviderView]
    agents: list[AgentView]
    observations: list[str]
    action_spaces: list[str]
    models: list[ModelView]
    workers: int
    can: Capabilities | None

    def provider(self, name: str) -> ProviderView | None:
        """The provider of that name, if any worker knows it."""
        return next((provider for provider in self.providers if provider.name == name), None)

    def why_not(self, provider: str, task: TaskNeeds, image: str | None = None) -> Reason | None:
        """Why a task cannot run on that provider's desktops (of that image, if given); None if it can."""
        view = self.provider(provider)
        if self.can is None or view is None:
            return Reason(ReasonCode.PROVIDER_NOT_OFFERED, f"no worker offers {provider} desktops")
        if not view.ok:
            text = view.reason or f"{provider} desktops are not available"
            return Reason(ReasonCode.PROVIDER_UNAVAILABLE, text)
        return self.can.why_not(provider, task, image=image)


def abilities(session: Session) -> RunOptions:
    """The view, from online workers' rows."""
    worker_offers = offers_of_workers(session)
    return RunOptions(
        providers=_providers(worker_offers),
        agents=_agents(worker_offers),
        observations=_names(worker_offers, "observations"),
        action_spaces=_names(worker_offers, "action_spaces"),
        models=models_of(worker_offers),
        workers=len(worker_offers),
        can=_capabilities(session),
    )


def _capabilities(session: Session) -> Capabilities | None:
    """Capabilities that a run would be checked against; None if no worker has ever registered."""
    try:
        return capabilities(session)
    except Unavailable:
        return None


def _names(worker_offers: Sequence[tuple[str, Mapping[str, Any]]], key: str) -> list[str]:
    return sorted({str(name) for _, able in worker_offers for name in able.get(key) or ()})


def _providers(worker_offers: Sequence[tuple[str, Mapping[str, Any]]]) -> list[ProviderView]:
    offers: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for worker, able in worker_offers:
        for name, offer in (able.get("providers") or {}).items():
            offers.setdefault(name, []).append((worker, offer))
    return [_provider(name, own_offers) for name, own_offers in sorted(offers.items())]


def _provider(name: str, offers: Sequence[tuple[str, Mapping[str, Any]]]) -> ProviderView:
    good = [(worker, offer) for worker, offer in offers if offer.get("ok")]
    reasons = [str(offer.get("reason") or "") for _, offer in (good or offers)]
    return ProviderView(
        name=name,
        ok=bool(good),
        reason=next((reason for reason in reasons if reason), ""),
        programs=frozenset(str(program) for _, offer in good for program in offer.get("programs") or ()),
        workers=tuple(worker for worker, _ in good),
        slots=tuple(
            SlotsView(worker, **offer["slots"], of_cluster=bool(offer.get("cluster")))
            for worker, offer in good
            if offer.get("slots")
        ),
        images=_images(offers),
    )


def _images(offers: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[WorkerImages, ...]:
    """By name; if several workers have an image, a working one is preferred."""
    by_name: dict[str, list[tuple[str, ImageOffer]]] = {}
    for worker, offer in offers:
        for image_offer in offer.get("images") or ():
            image = ImageOffer.model_validate(image_offer)
            by_name.setdefault(image.name, []).append((worker, image))
    return tuple(
        WorkerImages(min((image for _, image in both), key=_unusable), tuple(worker for worker, _ in both))
        for _, both in sorted(by_name.items())
    )


def _unusable(image: ImageOffer) -> bool:
    return bool(image.reason)


def _agents(worker_offers: Sequence[tuple[str, Mapping[str, Any]]]) -> list[AgentView]:
    offers = {name: offer for _, able in worker_offers for name, offer in (able.get("agents") or {}).items()}
    views = [
        AgentView(
            name=name,
            about=str(offer.get("about") or ""),
            schema=offer.get("schema") or {},
            observation=str(offer.get("observation") or ""),
            action_space=str(offer.get("action_space") or ""),
            privileged=bool(offer.get("privileged")),
        )
        for name, offer in offers.items()
    ]
    return sorted(views, key=_order)


def _order(agent: AgentView) -> tuple[bool, bool, bool, str]:
    """Measured agents first, then floors (random first), then privileged ones."""
    return agent.privileged, agent.name in FLOORS, agent.name != "random", agent.name
