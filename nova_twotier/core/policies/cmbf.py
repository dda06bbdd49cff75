"""Conservative Migration supported BackFilling (TPDS 2013, section 4.1)."""

from nova_twotier.core.policies.migrating import Migrating


class Cmbf(Migrating):
    name = "cmbf"
    summary = "Backfilling without estimates: any job may take slots from later arrivals to start."
    only_head = False
