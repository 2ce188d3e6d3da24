"""Options of a Windows image."""

from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, model_validator

from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen

FORBIDDEN_IN_NAMES = '"/\\[]:;|=,+*?<>@%'
"""Characters that are not allowed in names of local accounts.

https://learn.microsoft.com/powershell/module/microsoft.powershell.localaccounts/new-localuser
"""

ProductKey = Annotated[str, StringConstraints(pattern=r"^([A-Z0-9]{5}-){4}[A-Z0-9]{5}$")]
Locale = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Z][a-z]{3})?-[A-Z]{2}$")]


class WindowsBuildOptions(Frozen):
    r"""Options of one build.

    Attributes:
        edition: name or id of one of the medium's editions, for example `Windows 11 Pro` or `EnterpriseEval`; empty =
            the only one.
        product_key: if the edition needs one; empty for evaluations.
        user: of the desktop. WAA's tasks use `C:\\Users\\Docker`.
        password: for automatic logon. Not a secret: the machine is reachable by us only.
        also_home: further names NAME for which `C:\\Users\\NAME` is a link to the user's folder, for other benchmarks.
        time_zone: Windows' name (`tzutil /l`).
        firmware: Windows 11 requires `uefi`; `bios` needs no OVMF on the host.
        disk_gib: size for the guest; the file is only as large as its content.
        sets: sets of programs, by benchmark.
    """

    edition: str = Field(default="", max_length=200)
    product_key: ProductKey | Literal[""] = Field(default="", repr=False)
    user: str = Field(default="Docker", min_length=1, max_length=20)
    password: SecretStr = SecretStr("Deskarena-1")
    also_home: tuple[str, ...] = ("User", "Admin")
    computer: str = Field(default="DESKARENA", pattern=r"^[A-Z0-9-]{1,15}$")
    language: Locale = "en-US"
    keyboard: str = Field(default="0409:00000409", pattern=r"^[0-9a-f]{4}:[0-9a-f]{8}$")
    time_zone: str = Field(default="UTC", pattern=r"^[A-Za-z0-9 .()+-]{1,64}$")
    firmware: Literal["uefi", "bios"] = "uefi"
    disk_gib: int = Field(default=64, ge=32, le=1024)
    memory_mib: int = Field(default=8192, ge=2048, le=2**20)
    cpus: int = Field(default=4, ge=1, le=64)
    screen: ScreenSize = ScreenSize(width=1440, height=900)
    sets: tuple[str, ...] = ("waa",)

    @model_validator(mode="after")
    def _names(self) -> Self:
        for name in (self.user, *self.also_home):
            if not name.strip(". ") or set(name) & set(FORBIDDEN_IN_NAMES) or not name.isprintable():
                raise ValueError(f"{name!r} is not a valid Windows user name")
        # Windows compares names case-insensitively; the computer's own name is reserved, too.
        names = [name.lower() for name in (self.user, *self.also_home, self.computer)]
        if len(set(names)) != len(names):
            raise ValueError("user, also_home and computer must be different names")
        return self
