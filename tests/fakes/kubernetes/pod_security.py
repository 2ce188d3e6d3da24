"""Pod Security Admission: what a pod breaks of the levels `baseline` and `restricted`, in the server's words."""

from collections.abc import Iterator

from tests.fakes.kubernetes.kinds import Json

_CAPABILITIES = {
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID",    "SETPCAP", "SETUID", "SYS_CHROOT",
}  # fmt: skip
_VOLUMES = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
}  # fmt: skip
_PROFILES = {"RuntimeDefault", "Localhost"}


def containers(spec: Json) -> list[Json]:
    """All containers of a pod."""
    return [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]


def _named(found: list[Json], word: str = "container") -> str:
    names = ", ".join(f'"{one["name"]}"' for one in found)
    return f"{word}{'s' if len(found) > 1 else ''} {names}"


def _security(container: Json) -> Json:
    return container.get("securityContext") or {}


def _capabilities(container: Json, part: str) -> list[str]:
    return list((_security(container).get("capabilities") or {}).get(part) or [])


def baseline(spec: Json) -> Iterator[str]:
    """What is broken of the level that any ordinary pod keeps."""
    shared = [name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    if shared:
        yield f"host namespaces ({', '.join(f'{name}=true' for name in shared)})"
    if found := [one for one in containers(spec) if _security(one).get("privileged")]:
        yield f"privileged ({_named(found)} must not set securityContext.privileged=true)"
    if found := [one for one in containers(spec) if set(_capabilities(one, "add")) - _CAPABILITIES]:
        added = ", ".join(f'"{name}"' for name in sorted({n for one in found for n in _capabilities(one, "add")}))
        yield f"non-default capabilities ({_named(found)} must not include {added} in securityContext.capabilities.add)"
    if found := [one for one in spec.get("volumes") or [] if one.get("hostPath") is not None]:
        yield f"hostPath volumes ({_named(found, 'volume')})"
    ports = [
        (one, port["hostPort"]) for one in containers(spec) for port in one.get("ports") or [] if port.get("hostPort")
    ]
    if ports:
        yield f"hostPort ({_named([one for one, _ in ports])} uses hostPort {ports[0][1]})"
    if found := [one for one in containers(spec) if _profile(one) == "Unconfined"]:
        yield f'seccompProfile ({_named(found)} must not set securityContext.seccompProfile.type to "Unconfined")'


def _profile(part: Json) -> str:
    return str((_security(part).get("seccompProfile") or {}).get("type", ""))


def restricted(spec: Json) -> Iterator[str]:
    """What is broken of the strictest level, beyond the baseline."""
    whole = {"securityContext": spec.get("securityContext") or {}}
    if found := [one for one in containers(spec) if _security(one).get("allowPrivilegeEscalation") is not False]:
        must = "must set securityContext.allowPrivilegeEscalation=false"
        yield f"allowPrivilegeEscalation != false ({_named(found)} {must})"
    if found := [one for one in containers(spec) if "ALL" not in _capabilities(one, "drop")]:
        yield f'unrestricted capabilities ({_named(found)} must set securityContext.capabilities.drop=["ALL"])'
    elif found := [one for one in containers(spec) if set(_capabilities(one, "add")) - {"NET_BIND_SERVICE"}]:
        yield f"unrestricted capabilities ({_named(found)} must not include other than NET_BIND_SERVICE)"
    for volume in spec.get("volumes") or []:
        for kind in set(volume) - {"name"} - _VOLUMES:
            yield f'restricted volume types (volume "{volume["name"]}" uses restricted volume type "{kind}")'
    yield from _users(spec, whole)
    if _profile(whole) not in _PROFILES and (
        found := [one for one in containers(spec) if _profile(one) not in _PROFILES]
    ):
        must = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
        yield f"seccompProfile (pod or {_named(found)} {must})"


def _users(spec: Json, whole: Json) -> Iterator[str]:
    asked = _security(whole).get("runAsNonRoot")
    found = [one for one in containers(spec) if _security(one).get("runAsNonRoot", asked) is not True]
    if found:
        yield f"runAsNonRoot != true (pod or {_named(found)} must set securityContext.runAsNonRoot=true)"
    if _security(whole).get("runAsUser") == 0:
        yield "runAsUser=0 (pod must not set runAsUser=0)"
    if roots := [one for one in containers(spec) if _security(one).get("runAsUser") == 0]:
        yield f"runAsUser=0 ({_named(roots)} must not set runAsUser=0)"


def broken(spec: Json, level: str) -> list[str]:
    """Everything that a pod of this spec breaks of a level (privileged, baseline or restricted)."""
    if level not in {"baseline", "restricted"}:
        return []
    return [*baseline(spec), *(restricted(spec) if level == "restricted" else ())]
