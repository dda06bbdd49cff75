"""Options of the user's own for the queue manager and its API, which outlive the cloud.

They stand in a file of the cloud's directory and are added to what `up` itself configures.
"""

import pathlib
import tempfile
from collections.abc import Iterable, Mapping

from oslo_config import cfg

from nova_twotier import conf as config
from nova_twotier.tools.fakecloud import inifile
from nova_twotier.tools.fakecloud.errors import UsageError

#: Values by section and option; several if the option is given several times.
Options = Mapping[str, Mapping[str, list[str]]]

#: A section whose options are another library's.
_FOREIGN = ("keystone_authtoken",)
#: Where to find those that there are.
LISTED = "oslo-config-generator --namespace nova_twotier lists the options"
#: Where options of no section are.
_DEFAULT = "DEFAULT"


def read(path: pathlib.Path) -> Options:
    """The options in a file; none if it is not there.

    :raises UsageError: if it is no configuration file.
    """
    sections: dict[str, dict[str, list[str]]] = {}
    try:
        cfg.ConfigParser(str(path), sections).parse()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except cfg.ParseError as error:
        raise UsageError(f"it is no configuration: {config.one_line(error)}") from error
    return sections


def changed(kept: Options, file: pathlib.Path | None, given: Iterable[str]) -> Options:
    """The kept options with those of a file, then with those of `--set`; an empty value takes one
    back.

    :param given: texts such as `job_events.allowed_webhooks=http://127.0.0.1:8000/`.
    :raises UsageError: if a text or the file cannot be read, or there is no such option.
    """
    if file is not None and not file.exists():
        raise UsageError(f"--config: there is no file {file}")
    layers = [kept, read(file) if file else {}, *map(_parsed, given)]
    new = inifile.merge(*({name: dict(of) for name, of in layer.items()} for layer in layers))
    options = {
        section: left
        for section, values in new.items()
        if (left := {name: value for name, value in values.items() if any(value)})
    }
    _check(options)
    return options


def write(path: pathlib.Path, options: Options) -> None:
    """Keep options in a file, or remove it if there are none."""
    if not options:
        path.unlink(missing_ok=True)
        return
    lines = {
        # A value of several lines goes on where the next one is indented.
        section: {name: [text.replace("\n", "\n  ") for text in of] for name, of in values.items()}
        for section, values in options.items()
    }
    inifile.write(path, lines)


def names(options: Options) -> list[str]:
    return [f"{section}.{name}" for section, values in options.items() for name in values]


def fixed(before: Options, after: Options) -> list[str]:
    """Those that differ and cannot change while the cloud is up."""
    mutable = {
        f"{getattr(group, 'name', group) or _DEFAULT}.{option.dest}"
        for group, options in config.list_opts()
        for option in options
        if option.mutable
    }
    both = {*names(before), *names(after)}
    differ = [name for name in both if _value(before, name) != _value(after, name)]
    return sorted(set(differ) - mutable)


def _value(options: Options, name: str) -> list[str] | None:
    section, _dot, option = name.rpartition(".")
    return options.get(section, {}).get(option)


def _parsed(text: str) -> Options:
    name, equals, value = text.partition("=")
    section, dot, option = name.strip().rpartition(".")
    if not (equals and dot and section and option):
        raise UsageError(
            f"--set {text}: give SECTION.OPTION=VALUE, such as manager.poll_interval=1"
        )
    return {section: {option.replace("-", "_"): [value.strip()]}}


def _check(options: Options) -> None:
    """:raises UsageError: if the queue manager has no such option, or refuses a value."""
    known = config.load(["--config-file", "/dev/null"], "fakecloud")
    for section, values in options.items():
        if section in _FOREIGN:
            continue
        if section != _DEFAULT and section not in known:
            raise UsageError(f"there is no section [{section}]: {LISTED}")
        there = known if section == _DEFAULT else known[section]
        for name in values:
            # Which options a login has depends on its kind.
            if name not in there and section not in ("nova", "placement"):
                raise UsageError(f"there is no option {name} in [{section}]: {LISTED}")
    if not options:
        return
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "options"
        write(file, options)
        try:
            config.load(["--config-file", str(file)], "fakecloud")
        except config.ConfigError as error:
            raise UsageError(config.one_line(error).replace(f" from {file}", "")) from error
