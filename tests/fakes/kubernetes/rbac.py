"""Who may do what: tokens, and the rules of Roles and ClusterRoles that a test gives them or that are stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.fakes.kubernetes.kinds import Json
from tests.fakes.kubernetes.status import Refusal

ADMIN = ({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["*"], "verbs": ["*"]})

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True)
class Grant:
    """Rules for one namespace; "" means all, and what has none."""

    rules: Sequence[Json]
    namespace: str = ""


@dataclass
class User:
    """Whom a token belongs to."""

    name: str
    grants: list[Grant] = field(default_factory=list)


@dataclass(frozen=True)
class Wish:
    """Verb and resource of a request.

    Attributes:
        resource: with a subresource as `pods/log`.
    """

    verb: str
    group: str
    resource: str
    namespace: str
    name: str


def granted(user: User, wish: Wish) -> bool:
    """Whether any rule allows it."""
    return any(
        _allows(rule, wish)
        for grant in user.grants
        if not grant.namespace or grant.namespace == wish.namespace
        for rule in grant.rules
    )


def _allows(rule: Json, wish: Wish) -> bool:
    names = rule.get("resourceNames") or []
    # A name is not known yet at a create, and not given at a list of several.
    return (
        _in(wish.verb, rule.get("verbs"))
        and _in(wish.group, rule.get("apiGroups"))
        and _in(wish.resource, rule.get("resources"))
        and (not names or wish.name in names)
    )


def _in(value: str, listed: Sequence[str] | None) -> bool:
    return bool(listed) and ("*" in (listed or ()) or value in (listed or ()))


def reviewed(user: User, asked: Json) -> Json:
    """A SelfSubjectAccessReview with its answer: anybody may ask what they themselves may do."""
    wanted = (asked.get("spec") or {}).get("resourceAttributes") or {}
    names = ("verb", "group", "resource", "namespace", "name")
    wish = Wish(**{name: str(wanted.get(name) or "") for name in names})
    if sub := wanted.get("subresource"):
        wish = replace(wish, resource=f"{wish.resource}/{sub}")
    allowed = granted(user, wish)
    return {**asked, "status": {"allowed": allowed}}


def refusal(user: User, wish: Wish) -> Refusal:
    """403 in the authorizer's words."""
    where = f'in the namespace "{wish.namespace}"' if wish.namespace else "at the cluster scope"
    why = f'User "{user.name}" cannot {wish.verb} resource "{wish.resource}" in API group "{wish.group}" {where}'
    plain, _, sub = wish.resource.partition("/")
    qualified = (f"{plain}.{wish.group}" if wish.group else plain) + (f"/{sub}" if sub else "")
    subject = f'{qualified} "{wish.name}"' if wish.name else qualified
    details = {"name": wish.name, "group": wish.group, "kind": plain}
    named_details = {name: value for name, value in details.items() if value}
    return Refusal(403, "Forbidden", f"{subject} is forbidden: {why}", named_details)
