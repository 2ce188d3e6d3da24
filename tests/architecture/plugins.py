"""Every plug-in and every plug-in file, found once for the tests that look at them."""

import importlib
import importlib.util
import pkgutil

from backend.domain import registry
from backend.domain.registry import PluginKind

WORKER_PACKAGES = ("worker.providers", "worker.models")


def plugin_modules(package: str) -> list[str]:
    """Names of the plug-in files below a package; a leading underscore marks a shared helper or a folder of them."""
    found = importlib.import_module(package)
    return [
        module.name
        for module in pkgutil.walk_packages(found.__path__, f"{package}.")
        if not module.ispkg and not any(part.startswith("_") for part in module.name.split("."))
    ]


def existing(package: str) -> bool:
    """Whether a package exists; its parent may be missing, too."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


registry.load(*(package for package in WORKER_PACKAGES if existing(package)))
ENTRIES = [(kind, dialect, name) for kind in PluginKind for dialect, name in sorted(registry.entries(kind))]
PACKAGES = [
    f"backend.domain.{kind.value}" for kind in PluginKind if kind not in {PluginKind.PROVIDER, PluginKind.MODEL}
]
MODULES = [module for package in PACKAGES for module in plugin_modules(package)]
