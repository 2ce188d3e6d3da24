"""A store of votes in memory."""

from backend.domain.judging.judgement import JudgeReply


class MemoryVotes:
    """Implements the VoteStore port; `kept` has every answer, oldest first."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, int, JudgeReply]] = []

    def known(self, input_sha256: str, number: int) -> JudgeReply | None:
        fits = [reply for key, at, reply in self.kept if (key, at) == (input_sha256, number) and not reply.problem]
        return fits[0] if fits else None

    def keep(self, input_sha256: str, number: int, reply: JudgeReply) -> None:
        self.kept.append((input_sha256, number, reply))
