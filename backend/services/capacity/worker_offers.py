"""Offers of online workers: model endpoints and programs of desktops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from backend.db.repositories.capacity import workers_view as repository

Offers = Sequence[tuple[str, Mapping[str, Any]]]
"""Worker name -> its description."""


def offers_of_workers(session: Session) -> Offers:
    """Descriptions of the online workers."""
    return [(row.name, row.capabilities) for row in repository.capabilities(session)]


@dataclass(frozen=True)
class ModelView:
    """A model endpoint. `ok` if at least one online worker has its key; `reason` says why not, or its address.

    `answers`: whether it responded to a worker just now; None if not tested.
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
    """All endpoints of workers; working ones first."""
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
    # Of several workers, a working one gives the address.
    first = min((offer for _, offer in good or offers), key=lambda offer: offer.get("answers") is False)
    return ModelView(
        name=name,
        api=str(first.get("api") or ""),
        ok=bool(good),
        reason=str(first.get("reason") or ""),
        workers=tuple(worker for worker, _ in good),
        answers=any(answers) if answers else None,
    )
