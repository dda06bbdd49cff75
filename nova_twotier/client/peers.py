"""What tells the processes of a job, in their guests, who they are and where the others are.

A script in the guest reads the metadata that the queue manager writes (`cloud.peers`) and makes two
files of them: `env`, for a shell to source, and `peers`. Whatever the metadata hold, nothing but
names, numbers, addresses and a quoted text gets into them.
"""

import shlex
from dataclasses import dataclass

#: Directory in the guest for what holds until it is off.
DIRECTORY = "/run/twotier"
#: Nova's metadata service, where a guest reads the present metadata of its server.
METADATA = "http://169.254.169.254/openstack/latest/meta_data.json"
#: Where devices are by their label: Nova's configuration drive has one.
LABELS = "/dev/disk/by-label"
#: Seconds between two reads; Nova's answers are up to 15 s old.
INTERVAL = 5
#: The longest that a guest waits for the addresses of the others, in seconds: a gang that is not
#: complete within `[manager]operation_timeout`, 900 s by default, is given up.
PATIENCE = 1200
#: The longest that it waits for a metadata service that does not answer, in seconds.
SERVICE_PATIENCE = 60
#: Seconds between two reads while the script runs.
REFRESH = 300

#: Exit status 0: all is known; 1: the service does not say yet where the others are; 2: it does not
#: answer; 3: nor is there anything else to read. A line on the output says what is missing.
#:
#: The metadata of a job that is about to be shelved say that the addresses are void: what is known
#: then stays as it is, until the guest boots again.
#:
#: The job's script may call it while it runs in the background, so each run has files of its own
#: until they are whole.
READER = r"""
cd "$directory" || exit 3
ask() {
    if command -v curl > /dev/null; then
        curl -fsm 5 "$metadata"
    else
        python3 -c 'import sys, urllib.request
sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1], timeout=5).read())' "$metadata"
    fi 2> /dev/null
}
drive() {
    mounted="$run/drive.$$"
    for device in "$labels/config-2" "$labels/CONFIG-2"; do
        if [ -e "$device" ] && mkdir -p "$mounted" && mount -o ro "$device" "$mounted"; then
            cat "$mounted/openstack/latest/meta_data.json"
            status=$?
            umount "$mounted" && rmdir "$mounted"
            return $status
        fi
    done
    return 1
}
value() {
    printf '%s\n' "$shown" | sed -n 's/.*"'"$1"'": *"\([^"]*\)".*/\1/p'
}
joined() {
    parts=$(value "$1" | grep -Ex '[0-9]{1,3}') part=0
    while [ "$part" -lt "${parts:-0}" ]; do
        printf '%s%s' "$(value "$1_$part")" "$2"
        part=$((part + 1))
    done
}
fact() {
    printf '%s\n' "$facts" | sed -n "s/^$1=//p"
}
environment() {
    value twotier_job | grep -Ex '[0-9a-f-]{36}' | sed 's/^/export TWOTIER_JOB_ID=/'
    printf '%s\n' "$shown" |
        sed -n 's/.*"launch_index": *\([0-9][0-9]*\).*/export TWOTIER_RANK=\1/p'
    [ -n "$facts" ] || return 0
    printf '%s\n' "$facts" | sed 's/^/export /'
    # The point keeps the shell from removing line breaks at the end.
    name=$(joined twotier_name '' | base64 -d 2> /dev/null; echo .)
    name=$(printf %s "$name" | sed "s/'/'\\\\''/g")
    printf "export TWOTIER_JOB_NAME='%s'\n" "${name%.}"
}
peers() {
    number=$(fact TWOTIER_JOB_NUMBER) size=$(fact TWOTIER_SIZE) rank=0
    # shellcheck disable=SC2046  # a word for each process
    set -- $(joined twotier_peers ' ' | tr -cd '0-9a-fA-F:., -')
    while [ "$rank" -lt "${size:-0}" ]; do
        where=${1:--}
        [ "$where" != - ] || where=
        printf '%s tt-%s-%s%s\n' "$rank" "$number" $((rank + 1)) "${where:+ $where}"
        [ $# -eq 0 ] || shift
        rank=$((rank + 1))
    done | tr , ' '
}
answered=
if shown=$(ask); then
    answered=yes
elif [ -s known ]; then
    shown=$(cat known)
elif ! shown=$(drive 2> /dev/null); then
    echo "Nova's metadata service does not answer, and there is no configuration drive: the" \
        "variables TWOTIER_... are not set"
    exit 3
fi
facts=$(value twotier_env | tr ' ' '\n' | grep -Ex 'TWOTIER_[A-Z_]+=[0-9]*')
complete=$(value twotier_peers)
if [ -z "$facts" ]; then
    complete=unknown
elif [ -n "$answered" ]; then
    (umask 077 && printf '%s\n' "$shown" > "known.$$" && mv "known.$$" known)
fi
mkdir -p "$run"
if [ -n "$complete" ] || [ ! -e "$run/peers" ]; then
    environment > "$run/env.$$" && mv "$run/env.$$" "$run/env"
    peers > "$run/peers.$$" && mv "$run/peers.$$" "$run/peers"
fi
if [ -z "$facts" ]; then
    echo "the server's metadata have no twotier_env: is the queue manager of an earlier release?"
elif [ -z "$answered" ] && { [ -e known ] || [ -z "$complete" ]; }; then
    echo "Nova's metadata service does not answer: what is known of the job is what an earlier" \
        "boot or the configuration drive said"
    exit 2
elif [ -z "$complete" ]; then
    echo "the addresses of the other processes are not known"
    exit 1
fi
"""

#: Before the script starts: wait for the others, and look for changes while it runs.
BEFORE = """\
    tries=0
    while :; do
        missing=$(./refresh)
        case $? in
            0) break ;;
            1) most={most} ;;
            *) most={most_without_service} ;;
        esac
        tries=$((tries + 1))
        [ $tries -lt "$most" ] || break
        [ $tries -ne 1 ] || say "nova-twotier waits: $missing"
        sleep {interval}
    done
    [ -z "$missing" ] || say "nova-twotier starts the script: $missing"
    while sleep {refresh} && [ -e refresh ] && [ ! -e ended ]; do
        ./refresh > /dev/null
    done &
    refresher=$!
"""
#: After its end.
AFTER = """\
    kill $refresher 2>/dev/null
"""


@dataclass(frozen=True)
class Guest:
    """Where the guest reads and writes, and how long it waits; times are in seconds."""

    metadata: str = METADATA
    run: str = DIRECTORY
    labels: str = LABELS
    interval: float = INTERVAL
    patience: float = PATIENCE
    service_patience: float = SERVICE_PATIENCE
    refresh: float = REFRESH


def reader_of(directory: str, guest: Guest) -> str:
    """The script that reads the metadata once.

    :param directory: in the guest, where it keeps what it read last.
    """
    given = {
        "directory": directory,
        "run": guest.run,
        "metadata": guest.metadata,
        "labels": guest.labels,
    }
    lines = [f"{name}={shlex.quote(value)}" for name, value in given.items()]
    return "\n".join(["#!/bin/sh", *lines]) + READER


def around(run: str, guest: Guest) -> str:
    """The part of the runner that runs the script, with what comes before and after it."""
    before = BEFORE.format(
        most=round(guest.patience / guest.interval),
        most_without_service=round(guest.service_patience / guest.interval),
        interval=guest.interval,
        refresh=guest.refresh,
    )
    return before + run + AFTER


def export(guest: Guest) -> str:
    """The command that gives the script its variables; it starts without what is not known."""
    file = shlex.quote(f"{guest.run}/env")
    return f"[ ! -e {file} ] || . {file}"
