"""The node agent: gives the VMs of a compute host the CPU priority of their tier."""
