"""What a job's servers are told at their boot: cloud-init's user data."""

import base64
import json
import pathlib

#: In the guest.
DIRECTORY = "/var/lib/nova-twotier"
#: cloud-init runs what is here at every boot, as root.
PER_BOOT = "/var/lib/cloud/scripts/per-boot"

#: Runs the script at every boot until it has ended by itself once; what comes with a shutdown
#: that preempts the job is no such end. SIGTERM comes to the script and to this one alike.
RUNNER = """\
#!/bin/sh
cd {directory} || exit 1
trap 'exit 143' TERM
[ -e ended ] || ./script
touch ended
poweroff
"""


def encoded(content: bytes) -> str:
    """As Nova and the API take it."""
    return base64.b64encode(content).decode()


def of_script(script: bytes) -> bytes:
    """User data that runs a batch script and powers the server off at its end.

    After a restore the server boots again, and so the script runs again from its beginning.

    :raises ValueError: if it does not say which program runs it.
    """
    if not script.startswith(b"#!"):
        raise ValueError("a script begins with a line such as #!/bin/sh")
    files = [
        _file(f"{DIRECTORY}/script", script),
        _file(f"{PER_BOOT}/nova-twotier", RUNNER.format(directory=DIRECTORY).encode()),
    ]
    # JSON is YAML.
    return b"#cloud-config\n" + json.dumps({"write_files": files}, indent=1).encode() + b"\n"


def _file(path: str, content: bytes) -> dict:
    return {"path": path, "permissions": "0755", "encoding": "b64", "content": encoded(content)}


def read(path: str) -> bytes:
    """:raises ValueError: if the file cannot be read."""
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
