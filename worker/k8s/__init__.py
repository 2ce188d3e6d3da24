"""Virtual machines in the pods of a Kubernetes cluster. The only importer of the `kubernetes` package."""
