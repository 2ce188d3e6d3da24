"""Behaviours of kubelets with pods, each as a script. Times are real seconds, and short.

cluster.script(image_pull_back_off(), name="vm-*")     # every pod that is called so, from its start
cluster.run("deskarena", "vm-1").follow(oom_killed())    # one that runs already
"""

from collections.abc import Callable, Iterator, Sequence
from uuid import uuid4

from tests.fakes.kubernetes import pod_status
from tests.fakes.kubernetes.events import ATTACHER
from tests.fakes.kubernetes.kinds import SECRETS
from tests.fakes.kubernetes.processes import Start
from tests.fakes.kubernetes.run import Behaviour, PodRun

POLL = 0.05


def running(
    start: Start | None = None, *, pull: float = 0.02, ready: float = 0.02, lines: Sequence[str] = ()
) -> Behaviour:
    """Pulls the image, starts, says its lines, and is ready after `ready` seconds, or when the process says so."""

    def script(run: PodRun) -> Iterator[float]:
        yield from _pulled(run, pull)
        run.lines = list(lines)
        yield from _alive(run, start, ready)

    return script


def slow_start(seconds: float, start: Start | None = None) -> Behaviour:
    """As running, and the image takes that long."""
    return running(start, pull=seconds)


def never_ready(start: Start | None = None) -> Behaviour:
    """Runs, and its readiness probe fails for ever."""

    def script(run: PodRun) -> Iterator[float]:
        yield from _pulled(run, 0.02)
        _started(run, start)
        while True:
            run.say("Unhealthy", "Readiness probe failed: dial tcp: connect: connection refused", warning=True)
            yield 10 * run.pace
        # A script that never ends; the pod's end stops it.

    return script


def _pulled(run: PodRun, seconds: float) -> Iterator[float]:
    image = run.image()
    run.write(lambda pod: pod_status.creating(pod, run.host))
    run.say("Pulling", f'Pulling image "{image}"')
    yield seconds
    took = f"{seconds:.3g}s ({seconds:.3g}s including waiting)"
    run.say("Pulled", f'Successfully pulled image "{image}" in {took}. Image size: 73400320 bytes.')


def _started(run: PodRun, start: Start | None) -> None:
    for name in run.names():
        run.say("Created", f"Created container: {name}")
    run.launch(start)
    for name in run.names():
        run.say("Started", f"Started container {name}")
    run.write(lambda pod: pod_status.running(pod, run.address, run.container_id(), ready=False))


def _alive(run: PodRun, start: Start | None, ready: float) -> Iterator[float]:
    """Started, ready, watched; started again by its policy when it ends."""
    _started(run, start)
    crashes = 0
    while True:
        yield ready
        yield from _watched(run)
        if run.process is None:
            return
        code = run.process.poll() or 0
        policy = run.pod["spec"]["restartPolicy"] if run.pod else "Never"
        if policy == "Never" or (policy == "OnFailure" and code == 0):
            _stop(run, code)
            return
        yield from _again(run, start, code, crashes)
        crashes += 1


def _watched(run: PodRun) -> Iterator[float]:
    """Ready as the process says, until it ends; without one: ready."""
    last_ready = None
    while run.process is not None and run.process.poll() is None:
        if (ready := run.process.ready()) != last_ready:
            last_ready = ready
            _show(run, ready=ready)
        yield POLL
    if run.process is None:
        _show(run, ready=True)


def _show(run: PodRun, *, ready: bool) -> None:
    run.write(lambda pod: pod_status.running(pod, run.address, _same(run), ready=ready))


def _stop(run: PodRun, code: int) -> None:
    message = run.termination_message(code)
    run.write(lambda pod: pod_status.stopped(pod, code, message=message))


def _same(run: PodRun) -> str:
    statuses = (run.pod or {}).get("status", {}).get("containerStatuses") or [{}]
    return str(statuses[0].get("containerID") or run.container_id())


def _again(run: PodRun, start: Start | None, code: int, crashes: int) -> Iterator[float]:
    """One restart, after a back-off that doubles from 10 s to 300 s of the cluster's time."""
    reason = "Completed" if code == 0 else "Error"
    message = run.termination_message(code)
    seconds = min(10 * 2**crashes, 300)
    run.write(lambda pod: pod_status.restarting(pod, code, reason, message=message))
    yield 0.02
    yield from _backing_off(run, code, reason, seconds, message)
    run.launch(start)
    run.write(lambda pod: pod_status.restarted(pod, run.container_id(), ready=False))


def _backing_off(run: PodRun, code: int, reason: str, seconds: int, message: str = "") -> Iterator[float]:
    name, (namespace, pod_name) = run.names()[0], run.key
    words = f"restarting failed container {name} in pod {pod_name}_{namespace}({run.uid})"
    shown = f"back-off {_span(seconds)} restarting failed container={name} pod={pod_name}_{namespace}({run.uid})"
    run.say("BackOff", f"Back-off {words}", warning=True)
    run.write(lambda pod: pod_status.restarting(pod, code, reason, back_off=shown, message=message))
    yield seconds * run.pace


def _span(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def image_pull_back_off(why: str = "not found") -> Behaviour:
    """The image cannot be pulled."""

    def script(run: PodRun) -> Iterator[float]:
        image = run.image()
        failed = f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": {image}: {why}'
        failed = f'Failed to pull image "{image}": rpc error: code = NotFound desc = {failed}'
        run.write(lambda pod: pod_status.creating(pod, run.host))
        while True:
            run.say("Pulling", f'Pulling image "{image}"')
            yield 0.02
            run.say("Failed", failed, warning=True)
            run.say("Failed", "Error: ErrImagePull", warning=True)
            run.write(lambda pod: pod_status.waiting(pod, "ErrImagePull", failed.partition(": ")[2]))
            yield 0.02
            run.say("BackOff", f'Back-off pulling image "{image}"')
            run.say("Failed", "Error: ImagePullBackOff", warning=True)
            shown = f'Back-off pulling image "{image}": ErrImagePull: {failed.partition(": ")[2]}'
            run.write(lambda pod: pod_status.waiting(pod, "ImagePullBackOff", shown))  # noqa: B023 - runs at once
            yield 20 * run.pace

    return script


def mount_failed(
    why: str = "mount.nfs: Connection timed out",
    *,
    volume: str = "images",
    follow_up: Behaviour | None = None,
    times: int = -1,
) -> Behaviour:
    """A volume cannot be mounted: for ever, or this many times, after which the pod follows another behaviour."""
    return _held_up("FailedMount", lambda: f'MountVolume.SetUp failed for volume "{volume}" : {why}', follow_up, times)


def attach_failed(volume: str = "pvc-7c1f") -> Behaviour:
    """A volume is in use on another node, which the cluster's controller says once only."""
    message = "Volume is already exclusively attached to one node and can't be attached to another"

    def script(run: PodRun) -> Iterator[float]:
        run.write(lambda pod: pod_status.creating(pod, run.host))
        run.say(
            "FailedAttachVolume", f'Multi-Attach error for volume "{volume}" {message}', warning=True, source=ATTACHER
        )
        yield 0.0

    return script


def sandbox_failed(why: str = "no IP addresses available in range set") -> Behaviour:
    """The pod gets no network. Each try has its own sandbox, so all its events differ."""

    def said() -> str:
        sandbox = f'failed to setup network for sandbox "{uuid4().hex}": plugin type="bridge" failed (add): {why}'
        return f"Failed to create pod sandbox: rpc error: code = Unknown desc = {sandbox}"

    return _held_up("FailedCreatePodSandBox", said, None, -1)


def _held_up(reason: str, explain: Callable[[], str], follow_up: Behaviour | None, times: int) -> Behaviour:
    """The pod's containers are not begun: tried again after half a second, then ever later, up to two minutes."""

    def script(run: PodRun) -> Iterator[float]:
        run.write(lambda pod: pod_status.creating(pod, run.host))
        pause, left = 0.5, times
        while left:
            run.say(reason, explain(), warning=True)
            yield pause * run.pace
            pause, left = min(pause * 2, 122.0), left - 1
        if follow_up is not None:
            yield from follow_up(run)

    return script


def secret_awaited(follow_up: Behaviour) -> Behaviour:
    """Continues once the Secrets that the pod mounts exist, like every kubelet."""

    def script(run: PodRun) -> Iterator[float]:
        run.write(lambda pod: pod_status.creating(pod, run.host))
        pause = 0.5
        while missing := _missing_secret(run):
            message = f'MountVolume.SetUp failed for volume "{missing[0]}" : secret "{missing[1]}" not found'
            run.say("FailedMount", message, warning=True)
            yield pause * run.pace
            pause = min(pause * 2, 122.0)
        yield from follow_up(run)

    return script


def _missing_secret(run: PodRun) -> tuple[str, str] | None:
    """A volume whose Secret is not there, and the Secret's name."""
    volumes = (run.pod["spec"].get("volumes") or []) if run.pod else []
    named = [(item["name"], item["secret"]["secretName"]) for item in volumes if "secret" in item]
    return next((volume for volume in named if run.ground.find(SECRETS, (run.key[0], volume[1])) is None), None)


def crash_loop(code: int = 1, line: str = "") -> Behaviour:
    """Starts, says something and ends, again and again (or once, where nothing is to start again)."""

    def script(run: PodRun) -> Iterator[float]:
        yield from _pulled(run, 0.02)
        _started(run, None)
        run.lines = [line] if line else []
        for crashes in range(1000):
            yield 0.02
            if run.pod and run.pod["spec"]["restartPolicy"] == "Never":
                _stop(run, code)
                return
            run.before = run.output()
            yield from _again(run, None, code, crashes)

    return script


def oom_killed() -> Behaviour:
    """The kernel ends the container for its memory; it starts again where the policy says so."""

    def script(run: PodRun) -> Iterator[float]:
        run.before = run.output()
        run.launch(None)
        if run.pod and run.pod["spec"]["restartPolicy"] == "Never":
            run.write(lambda pod: pod_status.stopped(pod, 137, "OOMKilled"))
            return
        run.write(lambda pod: pod_status.restarting(pod, 137, "OOMKilled"))
        yield 0.1
        run.write(lambda pod: pod_status.restarted(pod, run.container_id()))

    return script


def restart(code: int = 1, start: Start | None = None) -> Behaviour:
    """The container ends once and starts again: another process at the same address, same uid."""

    def script(run: PodRun) -> Iterator[float]:
        run.before = run.output()
        run.launch(None)
        run.write(lambda pod: pod_status.restarting(pod, code, "Error"))
        yield 0.05
        run.launch(start)
        run.write(lambda pod: pod_status.restarted(pod, run.container_id(), ready=False))
        yield from _watched(run)

    return script


def evicted(resource: str = "ephemeral-storage") -> Behaviour:
    """The node ends the pod because it is short of something."""

    def script(run: PodRun) -> Iterator[float]:
        name = (run.names() or [""])[0]
        message = (
            f"The node was low on resource: {resource}. Threshold quantity: 1Gi, available: 512Mi. Container "
            f"{name} was "
            f"using 5Gi, request is 0, has larger consumption of {resource}. "
        )
        run.say("Evicted", message, warning=True)
        run.launch(None)
        run.write(lambda pod: pod_status.failed(pod, "Evicted", message))
        yield 0.0

    return script


def refused(reason: str = "UnexpectedAdmissionError", message: str = "") -> Behaviour:
    """The node does not take the pod that the scheduler gave it, as when a device is gone by then."""
    said = (
        message
        or "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices, which is unexpected"
    )

    def script(run: PodRun) -> Iterator[float]:
        run.say(reason, said, warning=True)
        run.write(lambda pod: pod_status.failed(pod, reason, f"Pod was rejected: {said}"))
        yield 0.0

    return script


def finished(code: int = 0, seconds: float = 0.02, line: str = "") -> Behaviour:
    """Runs for a while and ends for good."""

    def script(run: PodRun) -> Iterator[float]:
        yield from _pulled(run, 0.0)
        _started(run, None)
        run.lines = [line] if line else []
        yield seconds
        _stop(run, code)

    return script
