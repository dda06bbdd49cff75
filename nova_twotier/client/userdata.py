"""The user data that cloud-init runs in a job's servers."""

import base64
import json
import pathlib
import secrets

from nova_twotier.client import peers
from nova_twotier.core.jobs import MAX_USER_DATA

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
say() {{
    for console in {consoles}; do
        [ ! -w $console ] || echo "$1" > $console
    done
}}
report() {{
    say "$1 $(cat token) $2"
}}
if [ ! -e ended ]; then
{run}
    [ $status -le 128 ] || sleep 2
    echo $status > ending
    sync
    mv ending ended
    sync
fi
report twotier-exit "$(cat ended)"
poweroff
"""
PLAINLY = """\
    {export}
    ./script
    status=$?
"""
#: Also reads the server's metadata every few seconds. At the notice of a preemption all processes
#: of the script get SIGTERM, save their work and end; the queue manager is told, and waits no
#: longer. If the notice is withdrawn, the script runs again; metadata that cannot be read say
#: nothing. A notice may still be there after the restore: the file `saved` says which one was
#: answered. A shell may miss the signal by which the watcher is to end, so it also sees the end.
SAVING = """\
    notice() {{
        shown=$(curl -fsm 5 {metadata} 2>/dev/null) || return 1
        printf '%s\\n' "$shown" |
            sed -n 's/.*"twotier_notice": *"preempted at \\([^"]*\\)".*/\\1/p'
    }}
    watch() {{
        while sleep {interval} && [ ! -e ended ]; do
            at=$(notice) && [ -n "$at" ] && [ "$at" != "$(cat saved 2>/dev/null)" ] || continue
            echo "$at" > saving
            kill -s TERM -- "-$(cat pid)"
            return
        done
    }}
    [ ! -e saving ] || mv saving saved
    while :; do
        watch &
        watcher=$!
        {export}
        setsid sh -c 'echo $$ > pid; exec ./script'
        status=$?
        kill $watcher 2>/dev/null
        [ -e saving ] || break
        while kill -s 0 -- "-$(cat pid)" 2>/dev/null; do sleep 1; done
        mv saving saved
        sync
        report twotier-saved "$(cat saved)"
        while sleep {interval}; do
            at=$(notice) && [ "$at" != "$(cat saved)" ] && break
        done
    done
"""
#: Where Nova's console log comes from, by the hypervisor and the architecture.
CONSOLES = "/dev/console /dev/ttyS0 /dev/ttyAMA0 /dev/hvc0"


def new_token() -> str:
    """A token that tells the report of a job's guests from everything else in their logs."""
    return secrets.token_hex(16)


def encoded(content: bytes) -> str:
    """User data in base64, as Nova and the API expect it."""
    return base64.b64encode(content).decode()


def fitting(content: bytes, what: str) -> str:
    """Encode user data in base64, and check that Nova accepts their length.

    :param what: what the user gave, such as `script`, for the error.
    :raises ValueError: if they are too large.
    """
    data = encoded(content)
    # The API itself may only say that the request is too large.
    if len(data) > MAX_USER_DATA:
        raise ValueError(
            f"the {what} makes {len(data)} characters of user data, and at most {MAX_USER_DATA} "
            f"fit: put the program into the image, or let the {what} fetch it"
        )
    return data


def of_script(
    script: bytes, token: str, saves: bool = False, guest: peers.Guest | None = None
) -> bytes:
    """User data that runs a batch script, reports its exit status and powers the server off.

    After a restore the server boots again, and the script runs again from its beginning.

    :param token: the job's `report_token`.
    :param saves: whether the script saves its work at SIGTERM, so that it gets one when the job is
        about to be preempted.
    :param guest: how the script learns who and where the processes are; None: it does not.
    :raises ValueError: if it does not say which program runs it, or no guest can run it.
    """
    if not script.startswith(b"#!"):
        raise ValueError("a script begins with a line such as #!/bin/sh")
    # The kernel takes the carriage return for a part of the program's name.
    if script.partition(b"\n")[0].endswith(b"\r"):
        raise ValueError("the script has DOS line breaks; convert it with dos2unix")
    runner = runner_of(DIRECTORY, CONSOLES, saves, guest=guest)
    files = [
        _file(f"{DIRECTORY}/token", token.encode(), "0600"),
        _file(f"{DIRECTORY}/script", script),
        _file(f"{PER_BOOT}/nova-twotier", runner.encode()),
    ]
    if guest:
        files.append(_file(f"{DIRECTORY}/refresh", peers.reader_of(DIRECTORY, guest).encode()))
    # JSON is valid YAML.
    return b"#cloud-config\n" + json.dumps({"write_files": files}, indent=1).encode() + b"\n"


def runner_of(
    directory: str,
    consoles: str,
    saves: bool,
    metadata: str = peers.METADATA,
    interval: float = peers.INTERVAL,
    guest: peers.Guest | None = None,
) -> str:
    """The shell script that cloud-init runs at every boot.

    :param interval: seconds between two reads of the metadata.
    :param guest: as for `of_script`.
    """
    export = peers.export(guest) if guest else ":"
    run = (SAVING if saves else PLAINLY).format(metadata=metadata, interval=interval, export=export)
    if guest:
        run = peers.around(run, guest)
    return RUNNER.format(directory=directory, consoles=consoles, run=run.rstrip())


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
