"""A real Kubernetes control plane on one machine, from the source package of a distribution; its nodes are scripted."""
