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


def _named(bad_containers: list[Json], word: str = "container") -> str:
    names = ", ".join(f'"{item["name"]}"' for item in bad_containers)
    return f"{word}{'s' if len(bad_containers) > 1 else ''} {names}"


def _security(container: Json) -> Json:
    return container.get("securityContext") or {}


def _capabilities(container: Json, part: str) -> list[str]:
    return list((_security(container).get("capabilities") or {}).get(part) or [])


def baseline(spec: Json) -> Iterator[str]:
    """Violations of the level that any ordinary pod keeps."""
    shared = [name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    if shared:
        yield f"host namespaces ({', '.join(f'{name}=true' for name in shared)})"
    if offenders := [container for container in containers(spec) if _security(container).get("privileged")]:
        yield f"privileged ({_named(offenders)} must not set securityContext.privileged=true)"
    if offenders := [
        container for container in containers(spec) if set(_capabilities(container, "add")) - _CAPABILITIES
    ]:
        added = ", ".join(f'"{name}"' for name in sorted({n for bad in offenders for n in _capabilities(bad, "add")}))
        listed = _named(offenders)
        yield f"non-default capabilities ({listed} must not include {added} in securityContext.capabilities.add)"
    if offenders := [volume for volume in spec.get("volumes") or [] if volume.get("hostPath") is not None]:
        yield f"hostPath volumes ({_named(offenders, 'volume')})"
    ports = [
        (container, port["hostPort"])
        for container in containers(spec)
        for port in container.get("ports") or []
        if port.get("hostPort")
    ]
    if ports:
        yield f"hostPort ({_named([item for item, _ in ports])} uses hostPort {ports[0][1]})"
    if offenders := [container for container in containers(spec) if _profile(container) == "Unconfined"]:
        yield f'seccompProfile ({_named(offenders)} must not set securityContext.seccompProfile.type to "Unconfined")'


def _profile(part: Json) -> str:
    return str((_security(part).get("seccompProfile") or {}).get("type", ""))


def restricted(spec: Json) -> Iterator[str]:
    """Violations of the strictest level, beyond the baseline."""
    whole = {"securityContext": spec.get("securityContext") or {}}
    if offenders := [
        container for container in containers(spec) if _security(container).get("allowPrivilegeEscalation") is not False
    ]:
        must = "must set securityContext.allowPrivilegeEscalation=false"
        yield f"allowPrivilegeEscalation != false ({_named(offenders)} {must})"
    if offenders := [container for container in containers(spec) if "ALL" not in _capabilities(container, "drop")]:
        yield f'unrestricted capabilities ({_named(offenders)} must set securityContext.capabilities.drop=["ALL"])'
    elif offenders := [
        container for container in containers(spec) if set(_capabilities(container, "add")) - {"NET_BIND_SERVICE"}
    ]:
        yield f"unrestricted capabilities ({_named(offenders)} must not include other than NET_BIND_SERVICE)"
    for volume in spec.get("volumes") or []:
        for kind in set(volume) - {"name"} - _VOLUMES:
            yield f'restricted volume types (volume "{volume["name"]}" uses restricted volume type "{kind}")'
    yield from _users(spec, whole)
    if _profile(whole) not in _PROFILES and (
        offenders := [container for container in containers(spec) if _profile(container) not in _PROFILES]
    ):
        must = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
        yield f"seccompProfile (pod or {_named(offenders)} {must})"


def _users(spec: Json, whole: Json) -> Iterator[str]:
    asked = _security(whole).get("runAsNonRoot")
    offenders = [
        container for container in containers(spec) if _security(container).get("runAsNonRoot", asked) is not True
    ]
    if offenders:
        yield f"runAsNonRoot != true (pod or {_named(offenders)} must set securityContext.runAsNonRoot=true)"
    if _security(whole).get("runAsUser") == 0:
        yield "runAsUser=0 (pod must not set runAsUser=0)"
    if roots := [container for container in containers(spec) if _security(container).get("runAsUser") == 0]:
        yield f"runAsUser=0 ({_named(roots)} must not set runAsUser=0)"


def broken(spec: Json, level: str) -> list[str]:
    """Everything that a pod of this spec breaks of a level (privileged, baseline or restricted)."""
    if level not in {"baseline", "restricted"}:
        return []
    return [*baseline(spec), *(restricted(spec) if level == "restricted" else ())]
