"""Conservative Migration supported BackFilling (TPDS 2013, section 4.1)."""

from nova_twotier.core.policies.migrating import Migrating


class Cmbf(Migrating):
    """Backfilling without estimates: any job may take slots from later arrivals to start."""

    name = "cmbf"
    only_head = False
