"""Mutual authentication of a worker and a pod's supervisor by the pod's token, without sending it.

Each side sends a nonce; each answers with an HMAC-SHA256 over both, its role and the fencing token. So a process that
has the pod's address by accident learns no token, and nobody gets a machine of another's pod.

| who | line |
|---|---|
| worker | `{"nonce", "fence"}` |
| supervisor | `{"nonce", "proof"}` |
| worker | `{"proof"}` |
| supervisor | `{"event": "started", ...}`, or `{"event": "refused", "why"}` under a later lease |
"""

import hmac
import secrets

LONGEST = 2000
"""Maximum bytes of all lines of one side."""
WORKER, SUPERVISOR = "worker", "supervisor"


def nonce() -> str:
    """A random number used once."""
    return secrets.token_hex(16)


def proof(token: str, role: str, worker_nonce: str, supervisor_nonce: str, fence: int) -> str:
    """A side's proof. Args: role: its own, so that a proof cannot be reflected."""
    text = "\n".join(("deskarena", role, worker_nonce, supervisor_nonce, str(fence)))
    return hmac.new(token.encode(), text.encode(), "sha256").hexdigest()


def same(proof: object, expected: str) -> bool:
    """Compares proofs in constant time."""
    return isinstance(proof, str) and hmac.compare_digest(proof.encode(), expected.encode())
