"""Address and credentials of the API server, from a kubeconfig or from the pod that this process runs in."""

from kubernetes.client import Configuration
from kubernetes.config import ConfigException, load_incluster_config, load_kube_config

from worker.k8s.cluster import ClusterUnavailable

_CONNECTIONS = 32


def read_configuration(kubeconfig: str) -> Configuration:
    """The configuration as its files have it now.

    Args:
        kubeconfig: path; empty = in the cluster.

    Raises:
        ClusterUnavailable: There is no such configuration.
    """
    configuration = Configuration()
    try:
        if kubeconfig:
            load_kube_config(  # type: ignore[no-untyped-call]
                kubeconfig, client_configuration=configuration, persist_config=False
            )
        else:
            load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    except (ConfigException, OSError, ValueError) as error:
        raise ClusterUnavailable(f"no cluster is configured: {error}", reason="not_configured") from error
    # No automatic retries: only the caller knows whether repeating is safe.
    configuration.retries = False
    configuration.connection_pool_maxsize = _CONNECTIONS
    _strip_tokens(configuration)
    return configuration


def _strip_tokens(configuration: Configuration) -> None:
    """A token's file ends with a line feed, which no header can carry. The client sets the token for each request."""
    set_token = configuration.refresh_api_key_hook

    def refresh(current: Configuration) -> None:
        if set_token is not None:
            set_token(current)
        current.api_key = {name: str(key).strip() for name, key in current.api_key.items()}
        current.refresh_api_key_hook = refresh  # type: ignore[assignment] # the client declares no type

    refresh(configuration)


def credentials_of(configuration: Configuration) -> tuple[object, ...]:
    """Our credentials at the server: token and certificate."""
    return dict(configuration.api_key), configuration.cert_file, configuration.key_file
