"""What a cloud shows to whoever looks at it from outside."""

import json
import pathlib
import subprocess
import sys


def processes_of(directory):
    """Pids of all processes that name the directory in their environment."""
    pids = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environ = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f"FAKECLOUD_RUN_DIR={directory}/".encode() in environ:
                pids.append(int(entry.name))
    return pids


def used_vcpus(cloud):
    placement = cloud.placement()
    return sum(
        placement.get(f"/resource_providers/{provider['uuid']}/usages").json()["usages"]["VCPU"]
        for provider in providers(cloud)
    )


def providers(cloud):
    listed = cloud.placement().get("/resource_providers").json()["resource_providers"]
    return [provider for provider in listed if provider["name"] in cloud.info()["hosts"]]


def openstack(cloud, *words):
    """What the `openstack` command prints with the cloud's openrc."""
    ran = subprocess.run(
        [
            "sh",
            "-c",
            '. "$0" && exec "$@" -f json',
            cloud.info()["files"]["openrc"],
            pathlib.Path(sys.executable).with_name("openstack"),
            *words,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
