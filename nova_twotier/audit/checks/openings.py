"""Checks for ways around the filters and the queue."""

import pathlib
import re
from collections.abc import Mapping
from importlib import metadata

import yaml
from oslo_upgradecheck.upgradecheck import Result

from nova_twotier.audit.checks import config_files, nova_options
from nova_twotier.audit.checks.deployment import Facts
from nova_twotier.audit.checks.results import failure, success, warning
from nova_twotier.audit.listed import listed
from nova_twotier.core.actions import Tier
from nova_twotier.core.flavors import JOBS_ONLY, TIERS, is_for_jobs_only, job_tiers
from nova_twotier.ledger.names import TRAIT

FORCED_HOST = "os_compute_api:servers:create:forced_host"
NOBODY = "!"
#: The first release of each Nova series that refuses internal hints from tenants (CVE-2026-46448).
#: No older series does; all later ones do.
SAFE_NOVA = {31: (31, 3, 1), 32: (32, 2, 1), 33: (33, 0, 2)}


def nova_release(_conf) -> Result:
    """Tenants must not be able to pass a request off as a rebuild, which makes no claim."""
    try:
        version = metadata.version("nova")
    except metadata.PackageNotFoundError:
        return success(
            "not checked: Nova is not installed here. Run this where nova-scheduler does"
        )
    release = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    safe = SAFE_NOVA.get(release[0], (31, 3, 1))
    if release[0] <= max(SAFE_NOVA) and release < safe:
        return warning(
            f"Nova {version} accepts the hint _nova_check_type from tenants (CVE-2026-46448): our "
            "filters refuse it, but servers of other flavors may get onto two-tier hosts without a "
            "claim; "
            f"upgrade to {'.'.join(map(str, safe))} or later, unless your distributor has fixed it"
        )
    return success()


def forced_hosts(conf) -> Result:
    """Servers forced onto a host bypass the filters, and so the queue."""
    cure = f'"{FORCED_HOST}": "{NOBODY}"'
    novas = config_files.of_nova(conf)
    nova_options.register_opts(novas)
    try:
        files = _policy_files(novas)
        rules = {path: _rules(path) for path in files}
    except (OSError, ValueError, yaml.YAMLError) as error:
        return failure(f"Nova's policy cannot be read: {' '.join(str(error).split())}")
    if said := [path for path in files if FORCED_HOST in rules[path]]:
        path = said[-1]
        rule = rules[path][FORCED_HOST]
        if rule == NOBODY:
            return success()
        return warning(
            f"{path} lets servers be forced onto hosts ({FORCED_HOST} is {rule!r}), past the "
            f"filters: write {cure}; --host of microversion 2.74 asks them"
        )
    if files:
        return warning(
            "administrators may force servers onto hosts, past the filters (az:host): write "
            f"{cure} into Nova's policy.yaml; --host of microversion 2.74 asks them"
        )
    return warning(
        "not known, since no policy file of Nova is here: on the nodes of nova-api, write "
        f"{cure} into policy.yaml, or administrators may force servers past the filters (az:host)"
    )


def _policy_files(conf) -> list[pathlib.Path]:
    """Nova's policy files in reading order; for each rule, the last file that has it counts.

    :raises OSError: if a directory of them cannot be read.
    """
    found = []
    if main := conf.find_file(conf.oslo_policy.policy_file):
        found.append(pathlib.Path(main))
    for name in conf.oslo_policy.policy_dirs:
        if directory := conf.find_file(name):
            # Nova skips hidden files, such as those of an editor.
            files = (each for each in pathlib.Path(directory).iterdir() if each.is_file())
            found += sorted(each for each in files if not each.name.startswith("."))
    return found


def _rules(path: pathlib.Path) -> Mapping[str, str]:
    """:raises ValueError: if the file does not name rules."""
    rules = yaml.safe_load(path.read_text()) or {}
    if not isinstance(rules, dict):
        raise ValueError(f"{path} names no rules")
    return rules


def stand_alone_servers(_conf, facts: Facts) -> Result:
    """Servers that tenants boot themselves hold slots that the queue cannot take back."""
    open_to_all, astray = [], []
    for name, specs in sorted(facts.two_tier_flavors.items()):
        required = [tier for tier in Tier if specs.get(f"trait:{TRAIT[tier]}") == "required"]
        if required and job_tiers(specs) != tuple(required):
            astray.append(f"{name} ({TIERS}={specs.get(TIERS, 'not set')})")
        elif not (required or _for_jobs_only(specs)):
            open_to_all.append(name)
    if astray:
        return failure(
            f"flavors require the trait of one tier and allow others, in which nothing starts: set "
            f"{TIERS} to that tier in {listed(astray)}"
        )
    if open_to_all:
        return warning(
            "tenants may boot servers past the queue, which cannot take their slots back, with "
            f"{listed(open_to_all)}: set {JOBS_ONLY}=true, or for flavors of stand-alone "
            f"servers {TIERS}=bg and trait:{TRAIT[Tier.BG]}=required"
        )
    return success()


def _for_jobs_only(specs: Mapping[str, str]) -> bool:
    try:
        return is_for_jobs_only(specs)
    except ValueError:
        return False  # the scheduler refuses all servers
