"""The user data that cloud-init runs in a job's servers."""

import base64
import json
import pathlib
import secrets

#: Directory in the guest.
DIRECTORY = "/var/lib/nova-twotier"
#: cloud-init runs the scripts in here at every boot, as root.
PER_BOOT = "/var/lib/cloud/scripts/per-boot"

#: Runs the script at every boot until it has ended by itself once; then says at every boot how, and
#: powers the server off. A shutdown that preempts the job does not count as an end: SIGTERM also
#: reaches this wrapper, if a moment later. The exit status is stored whole or not at all, even if
#: the host fails meanwhile.
RUNNER = """\
#!/bin/sh
cd {directory} || exit 1
trap 'exit 143' TERM
if [ ! -e ended ]; then
    ./script
    status=$?
    [ $status -le 128 ] || sleep 2
    echo $status > ending
    sync
    mv ending ended
    sync
fi
for console in {consoles}; do
    [ ! -w $console ] || echo "twotier-exit $(cat token) $(cat ended)" > $console
done
poweroff
"""
#: Where Nova's console log comes from, by the hypervisor and the architecture.
CONSOLES = "/dev/console /dev/ttyS0 /dev/ttyAMA0 /dev/hvc0"


def new_token() -> str:
    """A token that tells the report of a job's guests from everything else in their logs."""
    return secrets.token_hex(16)


def encoded(content: bytes) -> str:
    """User data in base64, as Nova and the API expect it."""
    return base64.b64encode(content).decode()


def of_script(script: bytes, token: str) -> bytes:
    """User data that runs a batch script, reports its exit status and powers the server off.

    After a restore the server boots again, and the script runs again from its beginning.

    :param token: the job's `report_token`.
    :raises ValueError: if it does not say which program runs it.
    """
    if not script.startswith(b"#!"):
        raise ValueError("a script begins with a line such as #!/bin/sh")
    runner = RUNNER.format(directory=DIRECTORY, consoles=CONSOLES)
    files = [
        _file(f"{DIRECTORY}/token", token.encode(), "0600"),
        _file(f"{DIRECTORY}/script", script),
        _file(f"{PER_BOOT}/nova-twotier", runner.encode()),
    ]
    # JSON is valid YAML.
    return b"#cloud-config\n" + json.dumps({"write_files": files}, indent=1).encode() + b"\n"


def _file(path: str, content: bytes, permissions: str = "0755") -> dict:
    return {
        "path": path,
        "permissions": permissions,
        "encoding": "b64",
        "content": encoded(content),
    }


def read(path: str) -> bytes:
    """:raises ValueError: if the file cannot be read."""
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
