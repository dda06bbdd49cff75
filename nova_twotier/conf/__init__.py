"""Options, one module a group, and how they are loaded."""

import argparse
import pathlib
import re

from oslo_config import cfg
from oslo_log import log

from nova_twotier.conf import (
    agent,
    api,
    cloud,
    coordination,
    database,
    job_events,
    manager,
    network,
    notifications,
    scheduler,
    trust,
)
from nova_twotier.core import calibrated
from nova_twotier.core.progress import InvalidModel

#: The groups of our own processes; that of the scheduler plugin is Nova's to read.
_OURS = (
    *(agent, api, cloud, coordination, database, job_events, manager, network, notifications),
    trust,
)


class ConfigError(Exception):
    """A configuration that cannot be used; the message says which option and what to do."""


def load(args: list[str], prog: str) -> cfg.ConfigOpts:
    """Read the files named by `--config-file`, else the default ones of nova-twotier.

    :raises ConfigError: if a file is missing or an option has a wrong value.
    """
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    for module in _OURS:
        module.register_opts(conf)
    try:
        conf(args, project="nova-twotier", prog=prog)
        for section in (
            conf,
            conf.agent,
            conf.api,
            conf.coordination,
            conf.manager,
            conf.database,
            conf.job_events,
            conf.network,
        ):
            dict(section)  # a wrong value shows only when it is read
    except cfg.ConfigFilesNotFoundError as error:
        raise ConfigError(f"no such configuration file: {', '.join(error.config_files)}") from error
    except (cfg.Error, ValueError) as error:
        raise ConfigError(plain(error)) from error
    if conf.manager.model:
        _calibrate(conf)
    if conf.nova.timeout and conf.manager.boot_grace <= conf.nova.timeout:
        raise ConfigError(
            f"[manager]boot_grace is {conf.manager.boot_grace:g} s, and [nova]timeout "
            f"{conf.nova.timeout} s: give a longer grace, or jobs may be booted twice"
        )
    return conf


def files_first(args: list[str]) -> list[str]:
    """Move each `--config-file FILE` to the front: users may give it after a subcommand, too."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config-file", action="append", default=[], metavar="FILE")
    given, others = parser.parse_known_args(args)
    return [*(f"--config-file={path}" for path in given.config_file), *others]


def _calibrate(conf: cfg.ConfigOpts) -> None:
    """Let the threshold that was measured count where none is configured.

    :raises ConfigError: if the model file cannot be used.
    """
    path = conf.manager.model
    try:
        measured = calibrated.parse(pathlib.Path(path).read_text(), path).threshold
    except (OSError, InvalidModel) as error:
        raise ConfigError(f"[manager]model: {error}") from error
    if measured is not None:
        conf.set_default("threshold", measured, "manager")


def plain(error: Exception) -> str:
    """What oslo.config complains about, in one line, with the file that it is in."""
    text = re.sub(r"LocationInfo\(.*?detail='(.*?)'\)", r"\1", str(error))
    return f"configuration: {' '.join(text.split())}"


def list_opts():
    """All options, for oslo-config-generator."""
    return [option for module in (*_OURS, scheduler) for option in module.list_opts()]
