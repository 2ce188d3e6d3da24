"""Requests to any API server as they are, for what the product's port has no word for."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
from kubernetes.client import ApiClient, Configuration
from kubernetes.config import load_kube_config


@dataclass(frozen=True)
class RawAnswer:
    """An answer."""

    status: int
    text: str
    headers: dict[str, str]

    @property
    def body(self) -> Any:
        """Its JSON."""
        return json.loads(self.text)


class Raw:
    """Asks the cluster that a kubeconfig leads to."""

    def __init__(self, file: Path) -> None:
        configuration = Configuration()
        load_kube_config(str(file), client_configuration=configuration)  # type: ignore[no-untyped-call]
        configuration.retries = False
        self._client = ApiClient(configuration)

    def ask(  # noqa: PLR0913 - what makes a request
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: str = "",
        media: str = "application/json",
        read: float = 20.0,
    ) -> RawAnswer:
        """Sends one request; any status is an answer. `read`: seconds."""
        address = f"{self._client.configuration.host}{path}{'?' if query else ''}{query}"
        headers = {"Accept": "application/json", **({"Content-Type": media} if body is not None else {})}
        request_parts = self._client.param_serialize(
            method, path, header_params=headers, body=body, auth_settings=["BearerToken"]
        )  # fmt: skip
        answer = self._client.call_api(request_parts[0], address, *request_parts[2:], _request_timeout=(5.0, read))
        response: urllib3.BaseHTTPResponse = answer.response
        with response:
            return RawAnswer(response.status, bytes(response.data).decode(), dict(response.headers))

    def minor(self) -> int:
        """The second number of the server's version, such as 27 of `v1.27.3-gke.100`."""
        return int(str(self.ask("GET", "/version").body["gitVersion"]).split(".")[1])

    def close(self) -> None:
        self._client.rest_client.close()
