"""Tells the configuration files of nova-twotier from those of Nova.

Each service has policy files of its own.
"""

import glob
import os
from collections.abc import Iterable

from oslo_config import cfg

from nova_twotier.conf import agent, api, coordination, job_events, manager, network, trust

#: Groups that only our files have.
OURS = {module.GROUP.name for module in (agent, coordination, job_events, manager, network, trust)}
#: Options of the group `[api]` that Nova's has, too.
SHARED = {"auth_strategy", "max_limit"}
#: Options of the group `[api]` that only our files have.
OURS_OF_API = {option.dest for option in api.OPTS} - SHARED


def of_nova(conf: cfg.ConfigOpts) -> cfg.ConfigOpts:
    """The configuration of Nova alone."""
    return _read("nova", (path for path in _files(conf) if not _is_ours(path)))


def of_us(conf: cfg.ConfigOpts) -> cfg.ConfigOpts | None:
    """The configuration of nova-twotier alone; None if none of its files was read."""
    files = [path for path in _files(conf) if _is_ours(path)]
    return _read("nova-twotier", files) if files else None


def _files(conf: cfg.ConfigOpts) -> list[str]:
    """All configuration files that were read, in reading order."""
    found = [*conf.config_file]
    for directory in conf.config_dir:
        found += sorted(glob.glob(os.path.join(directory, "*.conf")))
    return found


def _is_ours(path: str) -> bool:
    sections: dict[str, dict[str, list[str]]] = {}
    cfg.ConfigParser(path, sections).parse()
    return not (OURS.isdisjoint(sections) and OURS_OF_API.isdisjoint(sections.get("api", ())))


def _read(project: str, files: Iterable[str]) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    arguments = [f"--config-file={path}" for path in files]
    conf(arguments, project=project, default_config_files=[], default_config_dirs=[])
    return conf
