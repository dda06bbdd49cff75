"""Options, one module a group, and how they are loaded."""

import contextlib
import io
import pathlib
import re
import sys
from collections.abc import Callable

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
    numbers,
    scheduler,
    trust,
)
from nova_twotier.core import calibrated
from nova_twotier.core.progress import InvalidModel

LOG = log.getLogger(__name__)

#: The groups of our own processes; that of the scheduler plugin is Nova's to read.
_OURS = (
    *(agent, api, cloud, coordination, database, job_events, manager, network, notifications),
    trust,
)


class ConfigError(Exception):
    """A configuration that cannot be used; the message says which option and what to do."""


def load(args: list[str], prog: str, description: str | None = None) -> cfg.ConfigOpts:
    """Read the files named by `--config-file`, else the default ones of nova-twotier.

    :param description: what the program does, for its help.
    :raises ConfigError: if a file is missing or an option has a wrong value.
    """
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    for module in _OURS:
        module.register_opts(conf)
    try:
        _parse(conf, args, prog, description)
    except cfg.ConfigFilesNotFoundError as error:
        raise ConfigError(f"no such configuration file: {', '.join(error.config_files)}") from error
    except (cfg.Error, ValueError) as error:
        raise ConfigError(plain(error)) from error
    _check_values(conf)
    if conf.manager.model:
        _calibrate(conf)
    if conf.nova.timeout and conf.manager.boot_grace <= conf.nova.timeout:
        raise ConfigError(
            f"[manager]boot_grace is {conf.manager.boot_grace:g} s, and [nova]timeout "
            f"{conf.nova.timeout} s: give a longer grace, or jobs may be booted twice"
        )
    return conf


def _parse(conf: cfg.ConfigOpts, args: list[str], prog: str, description: str | None) -> None:
    """Parse arguments and files.

    :raises ConfigError: where oslo.config would end the process: if a file has a wrong value of an
        option that is an argument, too.
    """
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            conf(args, project="nova-twotier", prog=prog, description=description)
    except SystemExit as exit_:
        if exit_.code == 1:
            text = " ".join(said.getvalue().split()).removeprefix("argument --")
            raise ConfigError(f"configuration: [DEFAULT]{text}") from exit_
        sys.stderr.write(said.getvalue())
        raise
    sys.stderr.write(said.getvalue())


def _check_values(conf: cfg.ConfigOpts) -> None:
    """Read every option: a wrong value shows only then.

    :raises ConfigError: if one has a wrong value; it names the section and the option.
    """
    groups = {group.name for module in _OURS for group, _options in module.list_opts() if group}
    for name in ("DEFAULT", *sorted(groups)):
        section = conf if name == "DEFAULT" else conf[name]
        for option in section:
            try:
                value = section[option]
                # keystoneauth's options, such as [nova]timeout, take any.
                if isinstance(value, float):
                    numbers.require_finite(value)
            except (cfg.Error, ValueError) as error:
                raise ConfigError(f"configuration: [{name}]{option}: {one_line(error)}") from error


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


def reload(conf: cfg.ConfigOpts, check: Callable[[], object]) -> None:
    """Read the files again, for the options that may change at run time; the log says what follows.

    :param check: raises ConfigError if the files are wrong; then nothing changes.
    """
    try:
        check()  # oslo.config itself reports a wrong value only when it is used
    except ConfigError as error:
        LOG.error("The configuration was not reloaded: %s", error)
    else:
        conf.mutate_config_files()
        # That empties the cache of values before it reads the files: threads may have put old
        # values there meanwhile. This empties it again; oslo.config has no other method for that
        # which changes nothing.
        conf.register_opts([])
        LOG.info("Reloaded the options that may change at run time")


def start_logging(conf: cfg.ConfigOpts) -> None:
    """Log as the options say.

    :raises ConfigError: if a log file or the file with a logging configuration cannot be used.
    """
    if not (conf.log_file or conf.log_dir or conf.use_journal):
        # oslo.log would take the standard output, which is for what a command answers.
        conf.set_default("use_stderr", True)
    try:
        log.setup(conf, "nova-twotier")
    except log.LogConfigError as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"[DEFAULT]log_config_append: {reason}") from error
    except OSError as error:
        raise ConfigError(f"[DEFAULT]log_file and log_dir: {error}") from error


def plain(error: Exception) -> str:
    """What oslo.config complains about, in one line, with the file that it is in."""
    if isinstance(error, cfg.ConfigFilesPermissionDeniedError):
        return f"permission denied: {', '.join(error.config_files)}"
    return f"configuration: {one_line(error)}"


def one_line(error: Exception) -> str:
    """An error of oslo.config with the plain name of the file that it is in."""
    text = re.sub(r"LocationInfo\(.*?detail='(.*?)'\)", r"\1", str(error))
    return " ".join(text.split())


def list_opts():
    """All options, for oslo-config-generator."""
    return [option for module in (*_OURS, scheduler) for option in module.list_opts()]
