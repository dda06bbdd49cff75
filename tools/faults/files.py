"""The configuration files of a run."""

import pathlib
from collections.abc import Mapping

from nova_twotier.tools.fakecloud import inifile

#: Short intervals, since the jobs last seconds.
MANAGER = {"policy": "amcbf", "poll_interval": 0.5, "host_interval": 2.0, "host_down_grace": 5.0}


def configure(
    info: dict, out: pathlib.Path, name: str, sections: Mapping[str, Mapping]
) -> list[str]:
    """Write what differs from the cloud's own configuration; the arguments that name both."""
    file = out / name
    base = {"DEFAULT": {"state_path": out / "state"}, "manager": MANAGER}
    inifile.write(file, inifile.merge(base, sections))
    return [f"--config-file={info['files']['manager_conf']}", f"--config-file={file}"]
