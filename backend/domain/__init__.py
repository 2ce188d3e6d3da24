"""The pure core: value objects, states, ports and plug-ins. No database, network, clock or framework."""
