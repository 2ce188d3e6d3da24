"""How a worker and a pod's supervisor show each other that they know the pod's token, without saying it.

Each side names a number used once; each answers with a keyed hash (HMAC-SHA256) over both, its role and the number of
the lease. So whoever happens to have the pod's address learns no token, and nobody gets a machine of another's pod.

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
"""Bytes of all lines of the one side."""
WORKER, SUPERVISOR = "worker", "supervisor"


def nonce() -> str:
    """A number used once."""
    return secrets.token_hex(16)


def proof(token: str, role: str, worker_nonce: str, supervisor_nonce: str, fence: int) -> str:
    """What a side shows. Args: role: its own, so that nobody can be sent back what they said."""
    text = "\n".join(("deskarena", role, worker_nonce, supervisor_nonce, str(fence)))
    return hmac.new(token.encode(), text.encode(), "sha256").hexdigest()


def same(shown: object, expected: str) -> bool:
    """Whether a proof is right; in the same time whatever is wrong with it."""
    return isinstance(shown, str) and hmac.compare_digest(shown.encode(), expected.encode())
