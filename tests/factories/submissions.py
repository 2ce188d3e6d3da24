"""Works that attempts handed in."""

from backend.db.models.enums import EvidenceRole
from backend.domain.model.score import HANDED_IN, Evaluation
from backend.services.artifacts.artifacts import ArtifactRef, register_all
from backend.services.attempts import attempts
from backend.services.attempts.attempts import EvidenceRow
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.creative import POSTER
from tests.factories.records import World


def hand_in(world: World, claim: Claim, data: bytes | None) -> None:
    """Through the life of an attempt whose work is handed in; None = it left no file."""
    world.run_to_evaluation(claim)
    blob = None if data is None else ArtifactRef(world.store.put(data, "image/png"), len(data), "image/png")
    row = EvidenceRow(0, EvidenceRole.RESULT, "vm_file", POSTER, blob)
    evaluation = Evaluation(score=None, measures={}, rule=HANDED_IN)
    if blob is not None:
        world.do(register_all, [blob])
    world.do(attempts.finish_scored, claim.fence, evaluation, [row], {"evaluation": 0.1})
    world.do(claims.release_lease, claim.lease_id, "done")
