"""The cluster's rules for a new object: pod security, quotas, service accounts, what a test refuses."""

from collections.abc import Callable
from uuid import uuid4

from tests.fakes.kubernetes.kinds import NAMESPACES, PODS, QUOTAS, SERVICE_ACCOUNTS, Json, Resource
from tests.fakes.kubernetes.pod_security import broken, containers
from tests.fakes.kubernetes.quantities import amount, asked, written
from tests.fakes.kubernetes.status import Refusal, forbidden
from tests.fakes.kubernetes.store import ObjectStore

ENFORCE = "pod-security.kubernetes.io/enforce"
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
Webhook = Callable[[Resource, Json], Refusal | None]


class Admission:
    """The chain that a new object passes.

    Attributes:
        webhooks: a test's own: each may refuse an object, or change it.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self.webhooks: list[Webhook] = []

    def admit(self, resource: Resource, obj: Json) -> Json:
        """The object as it is to be stored. Raises 403 in the words of what refused it."""
        if resource is PODS and isinstance(obj.get("spec"), dict):
            self._account(obj)
            self._security(obj)
        for webhook in self.webhooks:
            if (refusal := webhook(resource, obj)) is not None:
                raise refusal
        if resource is PODS:
            self._quota(obj)
        return obj

    def _account(self, pod: Json) -> None:
        """The service account has to be there; its token is mounted unless pod or account say no."""
        spec, namespace = pod["spec"], pod["metadata"]["namespace"]
        name = spec["serviceAccountName"]
        account = self._store.get(SERVICE_ACCOUNTS, (namespace, name))
        if account is None:
            why = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
            raise forbidden(PODS, pod["metadata"]["name"], why)
        if spec.get("automountServiceAccountToken", account.get("automountServiceAccountToken", True)):
            volume = f"kube-api-access-{uuid4().hex[:5]}"
            token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
            spec.setdefault("volumes", []).append({"name": volume, "projected": {"sources": [token]}})
            for container in containers(spec):
                mount = {"name": volume, "readOnly": True, "mountPath": TOKEN_FOLDER}
                container.setdefault("volumeMounts", []).append(mount)

    def _security(self, pod: Json) -> None:
        space = self._store.get(NAMESPACES, ("", pod["metadata"]["namespace"])) or {"metadata": {}}
        labels = space["metadata"].get("labels") or {}
        level = labels.get(ENFORCE, "privileged")
        if problems := broken(pod["spec"], level):
            version = labels.get(f"{ENFORCE}-version", "latest")
            raise forbidden(
                PODS, pod["metadata"]["name"], f'violates PodSecurity "{level}:{version}": {", ".join(problems)}'
            )

    def _quota(self, pod: Json) -> None:
        namespace = pod["metadata"]["namespace"]
        for quota in self._store.all(QUOTAS, namespace):
            hard = {_plain(name): str(value) for name, value in (quota["spec"].get("hard") or {}).items()}
            wanted = {name: value for name, value in asked(pod["spec"]).items() if name in hard}
            used = dict.fromkeys(wanted, 0.0)
            for other in self._live(namespace):
                for name, value in asked(other["spec"]).items():
                    if name in used:
                        used[name] += value
            over = [name for name in wanted if used[name] + wanted[name] > amount(hard[name])]
            if over:
                raise _exceeded(pod, quota, over, wanted, used, hard)

    def _live(self, namespace: str) -> list[Json]:
        ended = {"Succeeded", "Failed"}
        return [item for item in self._store.all(PODS, namespace) if item.get("status", {}).get("phase") not in ended]


def _plain(name: str) -> str:
    return name.removeprefix("requests.")


def _exceeded(  # noqa: PLR0913, PLR0917 - what the sentence is made of
    pod: Json, quota: Json, over: list[str], wanted: dict[str, float], used: dict[str, float], hard: dict[str, str]
) -> Refusal:
    named = {name: (name if name == "pods" else f"requests.{name}") for name in sorted(over)}

    def listed(amounts: dict[str, float]) -> str:
        return ",".join(f"{named[name]}={written(amounts[name])}" for name in named)

    limits = ",".join(f"{named[name]}={hard[name]}" for name in named)
    message = f"requested: {listed(wanted)}, used: {listed(used)}, limited: {limits}"
    why = f"exceeded quota: {quota['metadata']['name']}, {message}"
    return forbidden(PODS, pod["metadata"]["name"], why)
