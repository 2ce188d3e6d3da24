"""Guards against zip bombs and path traversal in office documents and other zip files.

Only the beginnings of XML members are unpacked. A file that passes is safe for a parser: its members are bounded by the
sizes in the directory (Python's reader stops there), and no XML declares an entity.
"""

import lzma
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.parsers import expat

from backend.domain.formats.failures import let_through

MAX_PACKED = 128 * 2**20
MAX_UNPACKED = 200 * 2**20
MAX_MEMBERS = 10_000
MAX_RATIO = 200
"""Maximum compression ratio of a large member. Sheets of equal rows reach 100, a bomb comes near deflate's 1032."""
RATIO_FROM = 32 * 2**20
"""Size from which the ratio is checked: a small white bitmap compresses like a bomb, but is harmless."""
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, ValueError, RuntimeError, EOFError)
"""Exceptions of reading a member of a damaged zip file; NotImplementedError is a RuntimeError."""
_ENCRYPTED = 0x1
_OLD_FORMAT = bytes.fromhex("d0cf11e0a1b11ae1")
_CHUNK = 4096


def check_package(path: str | None) -> str:
    """Why the file cannot be opened as an office document; empty if it may be tried.

    Includes `check_archive`, and checks that no XML member declares entities.
    """
    reason = check_archive(path)
    if reason:
        return reason
    try:
        with zipfile.ZipFile(str(path)) as package:
            names = [name for name in package.namelist() if name.lower().endswith((".xml", ".rels"))]
            return next((reason for name in names if (reason := _unsafe_xml(package, name))), "")
    # A member may claim any compression; errors in reading it count as damage.
    except DAMAGE as error:
        let_through(error)
        return f"the document is damaged: {type(error).__name__}"


def check_archive(path: str | None) -> str:
    """Why the file cannot be opened as a zip file; empty if it may be tried.

    Checks the file's size and, in its directory, the number of members, their names, sizes and ratios, overlaps and
    passwords.
    """
    if path is None or not Path(path).is_file():
        return "the file does not exist"
    size = Path(path).stat().st_size
    if size > MAX_PACKED:
        return f"the file is larger than {MAX_PACKED // 2**20} MiB"
    try:
        with zipfile.ZipFile(path) as package:
            return _unsafe(package.infolist(), size)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        let_through(error)
        with Path(path).open("rb") as file:
            if file.read(len(_OLD_FORMAT)) == _OLD_FORMAT:
                return "the file is a document of the old binary format, or one with a password"
        return f"the file is not an office document: {type(error).__name__}"


def _unsafe(members: Sequence[zipfile.ZipInfo], size: int) -> str:
    unpacked = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS:
        return f"the file has {len(members)} members"
    if unpacked > MAX_UNPACKED:
        return f"the file unpacks to {unpacked // 2**20} MiB"
    if sum(member.compress_size for member in members) > size:
        return "members of the file overlap"
    name, times = Counter(member.filename for member in members).most_common(1)[0] if members else ("", 1)
    if times > 1:
        return f"{name[:80]!r} is in the file {times} times"
    return next((reason for member in members if (reason := _unsafe_member(member))), "")


def _unsafe_member(member: zipfile.ZipInfo) -> str:
    name, packed = member.filename[:80], max(1, member.compress_size)
    if member.file_size > RATIO_FROM and member.file_size > MAX_RATIO * packed:
        return f"{name!r} unpacks to {member.file_size // packed} times its size"
    if member.flag_bits & _ENCRYPTED:
        return "the file is locked by a password"
    return f"{name!r} leads out of the file" if _is_outside(member.filename) else ""


def _is_outside(name: str) -> bool:
    """Whether a member's name is absolute, has a drive, or climbs up."""
    parts = name.replace("\\", "/").split("/")
    return parts[0] == "" or ".." in parts or (len(parts[0]) == 2 and parts[0].endswith(":"))  # noqa: PLR2004 - `C:`.


def _unsafe_xml(package: zipfile.ZipFile, name: str) -> str:
    """Reads up to the root element. Malformed XML is left to the parser."""
    problems: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda *_: problems.append("")
    parser.EntityDeclHandler = lambda *_: problems.append(f"{name[:80]!r} declares entities")
    with package.open(name) as member:
        try:
            while not problems and (chunk := member.read(_CHUNK)):
                parser.Parse(chunk, False)  # noqa: FBT003 - expat takes no keywords.
        except expat.ExpatError as error:
            if error.code != expat.errors.codes[expat.errors.XML_ERROR_UNKNOWN_ENCODING]:
                return next(filter(None, problems), "")
            problems.append(f"{name[:80]!r} is in an encoding of its own")
        except (LookupError, ValueError):  # Python's name of an encoding that expat does not accept.
            problems.append(f"{name[:80]!r} is in an encoding of its own")
    return next(filter(None, problems), "")
