"""Warn of hosts whose pool no job can name, such as a misspelt one: they stay idle."""

from oslo_upgradecheck.upgradecheck import Result

from nova_twotier.audit.checks import config_files
from nova_twotier.audit.checks.deployment import Facts
from nova_twotier.audit.checks.results import success, warning
from nova_twotier.audit.listed import listed


def of_hosts(conf, facts: Facts) -> Result:
    """`[manager]pools` of the API lists the pool of each two-tier host."""
    if config_files.of_us(conf) is None:
        return success("not checked: give the file of twotier-api with --config-file")
    others = sorted(
        f"{host} ({shape.pool})"
        for host, shape in facts.shapes.items()
        if shape.pool not in conf.manager.pools
    )
    if not others:
        return success()
    return warning(
        f"[manager]pools ({', '.join(conf.manager.pools)}) lacks the pool of {listed(others)}, so "
        "that an API with this configuration takes no jobs for it: set twotier:pool in the "
        "metadata of its aggregate to a pool of that list, or add the pool to the list"
    )
