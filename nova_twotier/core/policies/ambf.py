"""Aggressive Migration supported BackFilling (TPDS 2013, section 4.1.2)."""

from nova_twotier.core.policies.migrating import Migrating


class Ambf(Migrating):
    name = "ambf"
    summary = "As CMBF, but only the head of the queue may evict."
    only_head = True
