"""The node agent: gives a host's VMs the CPU priority of their tier, and measures what they use."""
