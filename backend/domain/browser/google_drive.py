"""Client of Google Drive's REST API, version 2, whose query language the published tasks use.

The account is the operator's: the secret `googledrive_settings` is a JSON object with `client_id`, `client_secret` and
`refresh_token` of an OAuth client of that account (docs/assets.md says how to get them).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from backend.domain.errors import WebFailed
from backend.domain.ports.web import Web, WebReply

SECRET = "googledrive_settings"  # noqa: S105 - the name under which the secret is kept
FOLDER = "application/vnd.google-apps.folder"
ROOT = "root"
_TOKEN = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_FILES = "https://www.googleapis.com/drive/v2/files"
_UPLOAD = "https://www.googleapis.com/upload/drive/v2/files?uploadType=multipart"
_BOUNDARY = "deskarena-part"
_MOST_PAGES = 20
_GONE = 404

File = Mapping[str, Any]


class GoogleDrive:
    """One account's drive. Every method raises WebFailed if Google does not answer or refuses."""

    def __init__(self, web: Web, settings: str) -> None:
        """Sends no request yet.

        Args:
            web: the client of the web.
            settings: the secret's text.

        Raises:
            WebFailed: the secret is malformed.
        """
        self._web = web
        self._settings = _settings(settings)
        self._token = ""

    def find(self, query: str) -> list[File]:
        """Files and folders that match a query of Drive (`title = 'x' and 'root' in parents`)."""
        return list(self._pages(query))

    def _pages(self, query: str) -> Iterator[File]:
        page = ""
        for _ in range(_MOST_PAGES):
            params = {"q": query, "maxResults": "200"} | ({"pageToken": page} if page else {})
            reply = self._ask("GET", f"{_FILES}?{urlencode(params)}")
            yield from reply.get("items", ())
            page = reply.get("nextPageToken", "")
            if not page:
                return

    def delete(self, file: File, *, trash: bool) -> None:
        """Deletes a file or folder permanently, or moves it to the trash. Safe to call twice."""
        address = f"{_FILES}/{quote(str(file['id']))}"
        self._ask(*(("POST", f"{address}/trash") if trash else ("DELETE", address)), gone_is_fine=True)

    def folder(self, path: Sequence[str]) -> str:
        """The id of a folder, created with its parents if needed."""
        parent = ROOT
        for name in path:
            title = name.replace("\\", "\\\\").replace("'", "\\'")
            query = f"'{parent}' in parents and title = '{title}' and mimeType = '{FOLDER}' and trashed = false"
            folders = self.find(query)
            parent = str(folders[0]["id"] if folders else self._make_folder(name, parent)["id"])
        return parent

    def _make_folder(self, name: str, parent: str) -> File:
        metadata = {"title": name, "mimeType": FOLDER, "parents": [{"id": parent}]}
        return self._ask("POST", _FILES, json.dumps(metadata).encode(), "application/json")

    def upload(self, path: Sequence[str], data: bytes) -> None:
        """Stores a file; the last part of `path` is its name."""
        metadata = {"title": path[-1], "parents": [{"id": self.folder(path[:-1])}]}
        head = f"--{_BOUNDARY}\r\nContent-Type: application/json\r\n\r\n{json.dumps(metadata)}\r\n--{_BOUNDARY}\r\n"
        body = (
            head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + data + f"\r\n--{_BOUNDARY}--".encode()
        )
        self._ask("POST", _UPLOAD, body, f"multipart/related; boundary={_BOUNDARY}")

    def content(self, file: File) -> bytes:
        """A file's bytes."""
        address = f"{_FILES}/{quote(str(file['id']))}?alt=media"
        reply = self._web.get(address, headers=self._headers())
        _raise_if_bad(reply, "the file")
        return reply.body

    def _ask(
        self, method: str, url: str, body: bytes = b"", media_type: str = "", *, gone_is_fine: bool = False
    ) -> Mapping[str, Any]:
        headers = self._headers() | ({"Content-Type": media_type} if media_type else {})
        reply = self._web.send(method, url, headers=headers, body=body)
        if gone_is_fine and reply.status == _GONE:
            return {}
        _raise_if_bad(reply, method)
        return _object(reply) if reply.body else {}

    def _headers(self) -> dict[str, str]:
        if not self._token:
            form = urlencode({**self._settings, "grant_type": "refresh_token"}).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            reply = self._web.send("POST", _TOKEN, headers=headers, body=form)
            _raise_if_bad(reply, "the refresh token")
            self._token = str(_object(reply).get("access_token", ""))
        return {"Authorization": f"Bearer {self._token}"}


def _settings(text: str) -> dict[str, str]:
    names = ("client_id", "client_secret", "refresh_token")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise WebFailed(f"the secret {SECRET!r} is not JSON: {error}", code="google_secret_invalid") from error
    missing = [name for name in names if not (isinstance(value, dict) and isinstance(value.get(name), str))]
    if missing:
        raise WebFailed(f"the secret {SECRET!r} lacks {', '.join(missing)}", code="google_secret_invalid")
    return {name: value[name] for name in names}


def _raise_if_bad(reply: WebReply, request: str) -> None:
    if not 200 <= reply.status < 300:  # noqa: PLR2004 - HTTP's class of success
        words = reply.body[:300].decode(errors="replace")
        raise WebFailed(
            f"Google Drive refused {request} with status {reply.status}: {words}", code="google_drive_failed"
        )


def _object(reply: WebReply) -> Mapping[str, Any]:
    try:
        value = json.loads(reply.body)
    except ValueError as error:
        raise WebFailed("Google Drive sent something that is not JSON", code="google_drive_failed") from error
    if not isinstance(value, dict):
        raise WebFailed("Google Drive sent something else where an object was due", code="google_drive_failed")
    return value
