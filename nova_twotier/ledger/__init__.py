"""The ledger: who holds which tier of which host, kept in OpenStack Placement and nowhere else."""
