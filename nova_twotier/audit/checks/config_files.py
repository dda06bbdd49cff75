"""Tells the configuration files of nova-twotier from those of Nova.

Each service has policy files of its own.
"""

import glob
import os
from collections.abc import Iterable

from oslo_config import cfg

#: A group that only our files have.
OURS = "manager"


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
    sections: dict[str, object] = {}
    cfg.ConfigParser(path, sections).parse()
    return OURS in sections


def _read(project: str, files: Iterable[str]) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    arguments = [f"--config-file={path}" for path in files]
    conf(arguments, project=project, default_config_files=[], default_config_dirs=[])
    return conf
