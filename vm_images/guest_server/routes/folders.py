"""Folders: /list_directory, /setup/create_folder, /folder_exists, /desktop_path, /documents_path."""

import asyncio
import os
from pathlib import Path
from typing import Any

from aiohttp import web

from guest_server.protocol.errors import GuestError
from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.machine import Machine
from guest_server.protocol.params import json_params
from guest_server.routes.files import existence, message_response

_MOUNT_POINT = 0xA0000003
"""IO_REPARSE_TAG_MOUNT_POINT of winnt.h."""


def routes(machine: Machine) -> list[web.RouteDef]:
    """POST /list_directory, /setup/create_folder, /folder_exists, /desktop_path, /documents_path."""

    async def listing(request: web.Request) -> web.Response:
        path = (await json_params(request)).path("path")
        tree = await asyncio.to_thread(FolderListing(machine.limits).tree, path)
        return web.json_response({"directory_tree": tree})

    async def create(request: web.Request) -> web.Response:
        path = Path((await json_params(request)).path("path"))
        await asyncio.to_thread(path.mkdir, parents=True, exist_ok=True)
        return message_response(f"folder '{path}' created")

    async def exists(request: web.Request) -> web.Response:
        params = await json_params(request)
        return existence(Path(params.path("path"), params.text("folder_name", longest=255)), Path.is_dir)

    async def desktop(_: web.Request) -> web.Response:
        return _folder(machine, "Desktop", "desktop_path")

    async def documents(_: web.Request) -> web.Response:
        return _folder(machine, "Documents", "documents_path")

    return [
        web.post("/list_directory", listing),
        web.post("/setup/create_folder", create),
        web.post("/folder_exists", exists),
        web.post("/desktop_path", desktop),
        web.post("/documents_path", documents),
    ]


def _folder(machine: Machine, name: str, key: str) -> web.Response:
    folder = machine.shell.folder(name)
    if not folder.is_dir():
        raise GuestError("not_found", f"the folder '{folder}' does not exist")
    return web.json_response({key: str(folder)})


class FolderListing:
    """Lists a folder recursively. A tree that is too large is refused: a part of it would look complete."""

    def __init__(self, limits: GuestLimits) -> None:
        self._limits = limits
        self._count = 0

    def tree(self, path: str) -> dict[str, Any]:
        """The tree of a folder; links are listed and not followed."""
        return {"type": "directory", "name": Path(path).name, "children": self._children(path, 1)}

    def _children(self, path: str, depth: int) -> list[dict[str, Any]]:
        if depth > self._limits.tree_depth:
            raise GuestError("too_large", f"folders are nested deeper than {self._limits.tree_depth} levels")
        with os.scandir(path) as entries:
            return [self._entry(entry, depth) for entry in sorted(entries, key=lambda entry: entry.name)]

    def _entry(self, entry: "os.DirEntry[str]", depth: int) -> dict[str, Any]:
        self._count += 1
        if self._count > self._limits.tree_nodes:
            raise GuestError("too_large", f"more than {self._limits.tree_nodes} files; list a folder below")
        # A name that is not UTF-8 must not break the reply.
        name = entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if not entry.is_dir(follow_symlinks=False):
            return {"type": "file", "name": name}
        folder: dict[str, Any] = {"type": "directory", "name": name, "children": []}
        if is_junction(entry):
            return folder
        try:
            return folder | {"children": self._children(entry.path, depth + 1)}
        except OSError as error:
            # As in OSWorld: one unreadable folder does not hide the others.
            return folder | {"error": error.strerror or str(error)}


def is_junction(entry: "os.DirEntry[str]") -> bool:
    """Whether it is a junction. Windows puts such unreadable links into each user's `Documents`."""
    return bool(getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == _MOUNT_POINT)
