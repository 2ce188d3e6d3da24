"""What the online workers offer: where models are asked, and which programs their desktops have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from backend.db.repositories.capacity import workers_view as repository

Offers = Sequence[tuple[str, Mapping[str, Any]]]
"""Workers' names with what each says of itself."""


def offers_of_workers(session: Session) -> Offers:
    """What the online workers say of themselves."""
    return [(row.name, row.capabilities) for row in repository.capabilities(session)]


@dataclass(frozen=True)
class ModelView:
    """Where models are asked. `ok` when at least one online worker has its key; `reason` says why not, or the place.

    `answers` says whether it answered a worker just now; None where none has asked it.
    """

    name: str
    api: str
    ok: bool
    reason: str
    workers: tuple[str, ...]
    answers: bool | None = None


def programs_of(offers: Offers, provider: str) -> frozenset[str]:
    """Programs of a provider's desktops, on any worker where it works."""
    good = (
        able["providers"][provider] for _, able in offers if (able.get("providers") or {}).get(provider, {}).get("ok")
    )
    return frozenset(str(program) for offer in good for program in offer.get("programs") or ())


def models_of(worker_offers: Offers) -> list[ModelView]:
    """Every endpoint that a worker names; those that can be asked first."""
    offers: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for worker, able in worker_offers:
        for name, offer in (able.get("models") or {}).items():
            offers.setdefault(name, []).append((worker, offer))
    return sorted(
        (_model(name, own_offers) for name, own_offers in offers.items()), key=lambda view: (not view.ok, view.name)
    )


def _model(name: str, offers: Sequence[tuple[str, Mapping[str, Any]]]) -> ModelView:
    good = [(worker, offer) for worker, offer in offers if offer.get("ok")]
    answers = [offer["answers"] for _, offer in good if offer.get("answers") is not None]
    # Of several workers, one that can ask it says where it is.
    first = min((offer for _, offer in good or offers), key=lambda offer: offer.get("answers") is False)
    return ModelView(
        name=name,
        api=str(first.get("api") or ""),
        ok=bool(good),
        reason=str(first.get("reason") or ""),
        workers=tuple(worker for worker, _ in good),
        answers=any(answers) if answers else None,
    )
