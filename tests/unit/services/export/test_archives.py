import io
import tarfile
import zipfile
from collections.abc import Iterator

import pytest

from backend.services.export.archives import ARCHIVES
from backend.services.export.export import ExportFile

FILES = {"data/part-00000.jsonl": b"{}\n" * 1000, "images/" + "a" * 64 + ".png": bytes(range(256)) * 3, "empty": b""}


def entries() -> Iterator[ExportFile]:
    return (ExportFile(name, io.BytesIO(data), len(data)) for name, data in FILES.items())


def read(name: str, data: bytes) -> dict[str, bytes]:
    if name == "zip":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert archive.testzip() is None
            return {info.filename: archive.read(info) for info in archive.infolist()}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {info.name: (archive.extractfile(info) or io.BytesIO()).read() for info in archive}


@pytest.mark.parametrize("name", ARCHIVES)
class TestArchive:
    def test_gives_the_files_back(self, name: str) -> None:
        assert read(name, b"".join(ARCHIVES[name][1](entries()))) == FILES

    def test_has_the_same_bytes_every_time(self, name: str) -> None:
        write = ARCHIVES[name][1]
        assert b"".join(write(entries())) == b"".join(write(entries()))

    def test_a_file_is_asked_for_only_when_its_turn_comes(self, name: str) -> None:
        asked: list[str] = []

        def slow() -> Iterator[ExportFile]:
            for entry in entries():
                asked.append(entry.name)
                yield entry

        stream = ARCHIVES[name][1](slow())
        next(stream)
        assert asked == [next(iter(FILES))]
