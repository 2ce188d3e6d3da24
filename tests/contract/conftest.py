"""Implementations of the ports that every contract suite runs against."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import Desktop, DesktopSpec, OpenDesktop, Provider
from tests.contract.kinds import SystemNames, kind_of
from tests.fakes.provider import FakeProvider
from tests.waiting import until

SPEC = DesktopSpec(screen=ScreenSize(width=800, height=600))


def local_provider(folder: Path) -> Provider:
    """The real one, if this machine can run it."""
    from worker.providers.local import LocalProvider

    provider = LocalProvider(Settings(data_dir=folder))
    offer = provider.availability()
    if not offer.ok:
        pytest.skip(f"needs local desktops: {offer.reason}")
    return provider


def image_to_try() -> Path:
    """The folder of the image that machines are tried with."""
    image = Path(os.environ.get("DESKARENA_TEST_IMAGE") or Settings().data_dir / "images" / "linux-minimal")
    if not (image / "image.json").is_file():
        pytest.skip("needs a machine image: make image-linux VARIANT=minimal, or DESKARENA_TEST_IMAGE=FOLDER")
    return image


def qemu_provider(folder: Path) -> Provider:
    """The one of virtual machines, with the image that DESKARENA_TEST_IMAGE names, else the data folder's minimal one.

    Its templates are shared by all modules of a test run: emulated, one takes minutes to make.
    """
    from worker.providers.qemu import QemuProvider

    image = image_to_try()
    data = folder.parent / "qemu-shared"
    (data / "images").mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        (data / "images" / image.name).symlink_to(image.resolve())
    provider = QemuProvider(Settings(data_dir=data))
    offer = provider.availability()
    if not offer.ok:
        pytest.skip(f"needs virtual machines: {offer.reason}")
    return provider


def k8s_provider(folder: Path) -> Provider:
    """The one of pods, in a fake cluster whose pods run the real supervisor, with the image that qemu is tried with."""
    from tests.factories.fake_cluster_pods import k8s_place
    from worker.providers.k8s import K8sProvider

    image = image_to_try()
    stack = ExitStack()
    place = stack.enter_context(k8s_place(folder, lambda images: _copied(images, image)))

    class InFakeCluster(K8sProvider):
        """Takes its cluster along when it is closed."""

        def close(self) -> None:
            super().close()
            stack.close()

    provider = InFakeCluster(place.settings())
    try:
        until(lambda: provider.availability().ok, 120, what="the images are known")
    except BaseException:
        provider.close()
        raise
    return provider


def _copied(images: Path, image: Path) -> None:
    """Pods read images as an ordinary user, who may not see into this one's home."""
    shutil.copytree(image.resolve(), images / image.name)


REAL: Mapping[str, Callable[[Path], Provider]] = {
    "local": local_provider,
    "qemu": qemu_provider,
    "k8s": k8s_provider,
}
"""Providers that make real machines, by name; each skips, and says why, where it cannot work."""
SLOW = {name: (pytest.mark.long, pytest.mark.timeout(1800)) for name in ("qemu", "k8s")}
REAL_PROVIDERS = [pytest.param(name, marks=(pytest.mark.desktop, *SLOW.get(name, ()))) for name in REAL]


def made_provider(name: str, folders: pytest.TempPathFactory) -> Provider:
    """The provider of that name, or the fake one."""
    return REAL[name](folders.mktemp(name)) if name in REAL else FakeProvider()


class WineDesktops:
    """The provider `local` with its image of Windows programs as the one that `default` means."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.name = provider.name
        self.availability = provider.availability
        self.unprepare = provider.unprepare
        self.close = provider.close

    def open(self, slot: SlotRef, spec: DesktopSpec) -> OpenDesktop:
        return self._provider.open(slot, spec.model_copy(update={"image": "wine"}))

    def prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        self._provider.prepare(slot, spec.model_copy(update={"image": "wine"}))


def wine_desktops(folder: Path) -> Provider:
    """Desktops with Windows programs, if this machine can make them."""
    provider = local_provider(folder)
    for image in provider.availability().images:
        if image.name == "wine" and image.reason:
            provider.close()
            pytest.skip(f"needs desktops with Windows programs: {image.reason}")
    return WineDesktops(provider)


WINE = "local-wine"
WINE_MARKS = (pytest.mark.desktop, pytest.mark.timeout(600))
WITH_WINE = ["fake", *REAL_PROVIDERS, pytest.param(WINE, marks=WINE_MARKS)]
"""Every provider, and the desktops of `local` that have Windows programs."""
WITH_WINE_AT_LENGTH = [*WITH_WINE[:-1], pytest.param(WINE, marks=(*WINE_MARKS, pytest.mark.long))]
"""The same for a module that makes many desktops: those of Wine come in `make test-all` only."""


@contextmanager
def opened_provider(name: str, folders: pytest.TempPathFactory) -> Iterator[Provider]:
    """A provider that is closed at the end."""
    desktop_provider = wine_desktops(folders.mktemp(name)) if name == WINE else made_provider(name, folders)
    try:
        yield desktop_provider
    finally:
        desktop_provider.close()


@pytest.fixture(scope="module", params=["fake", *REAL_PROVIDERS])
def provider(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """Every provider that can work here, the fake one included."""
    with opened_provider(request.param, tmp_path_factory) as desktop_provider:
        yield desktop_provider


@pytest.fixture
def opened(provider: Provider) -> Iterator[OpenDesktop]:
    """A desktop of the test's own."""
    desktop = provider.open(SlotRef(0), SPEC)
    yield desktop
    desktop.close()


@pytest.fixture(scope="module")
def shared(provider: Provider) -> Iterator[OpenDesktop]:
    """One desktop for all tests of a module that leave it usable."""
    desktop = provider.open(SlotRef(1), SPEC)
    yield desktop
    desktop.close()


@pytest.fixture
def desktop(shared: OpenDesktop) -> Desktop:
    return shared.desktop


@pytest.fixture
def kind(desktop: Desktop) -> SystemNames:
    return kind_of(desktop)
