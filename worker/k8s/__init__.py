"""Virtual machines in pods of a Kubernetes cluster. The only importer of the `kubernetes` package."""
