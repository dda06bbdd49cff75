"""What the DevStack plugin makes through OpenStack's APIs, with the real client on a real Nova.

Its other phases, and what is done when a command fails, are tested in tests/unit/devstack.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from nova_twotier.tools.fakecloud import handover

pytestmark = pytest.mark.cloud

ROOT = pathlib.Path(__file__).parents[2]

#: The variables of devstack/settings that the functions read, and DevStack's own functions.
SOURCE = """
set -o errexit
TWOTIER_OS_CLOUD=devstack-admin
TWOTIER_AGGREGATE=from-devstack
TWOTIER_FLAVOR=from-devstack
TWOTIER_FLAVOR_RAM=256
TWOTIER_FLAVOR_DISK=1
TWOTIER_SLOTS=4
TWOTIER_TIERS=2
TWOTIER_USER=nobody
SERVICE_DOMAIN_NAME=Default
die() { echo "$@" >&2; exit 1; }
warn() { echo "$@" >&2; exit 1; }
source devstack/lib/cloud.sh
"""


@pytest.fixture
def run(fakecloud, tmp_path):
    """Runs functions of the plugin, as the administrator of the fake cloud."""
    if not shutil.which("openstack", path=pathlib.Path(sys.executable).parent):
        pytest.skip('needs the openstack client: install the "test" extra')
    access = handover.read(fakecloud.info())
    options = {
        name.removeprefix("OS_").lower(): value for name, value in access.environment().items()
    }
    auth = {name: options.pop(name) for name in ("endpoint", "token")}
    clouds = tmp_path / "clouds.json"
    clouds.write_text(json.dumps({"clouds": {"devstack-admin": {**options, "auth": auth}}}))
    environment = {
        "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "OS_CLIENT_CONFIG_FILE": str(clouds),
    }

    def run(functions):
        ran = subprocess.run(
            ["bash", "-c", SOURCE + functions],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


def named(found):
    return [each for each in found if each.name == "from-devstack"]


def test_flavor_and_aggregate_come_and_go(fakecloud, run):
    nova, hosts = fakecloud.nova(), fakecloud.info()["hosts"]
    run("twotier_create_flavor; twotier_create_aggregate")
    [flavor] = named(nova.flavors.list())
    assert flavor.get_keys() == {
        "resources:CUSTOM_TWOTIER_SLOT": "1",
        "quota:cpu_shares": "1024",
        "twotier:jobs_only": "true",
    }
    assert (flavor.vcpus, flavor.ram, flavor.disk) == (1, 256, 1)
    [aggregate] = named(nova.aggregates.list())
    assert aggregate.metadata == {"twotier:slots": "4", "twotier:tiers": "2"}
    # Most hosts are in it already, as when stack.sh runs again. Each call of the client takes long.
    for host in hosts[:-1]:
        nova.aggregates.add_host(aggregate, host)
    run("twotier_add_hosts")
    assert sorted(nova.aggregates.get(aggregate).hosts) == hosts
    for host in hosts[2:]:
        nova.aggregates.remove_host(aggregate, host)
    assert run("twotier_delete_objects") == ""
    assert named(nova.aggregates.list()) == named(nova.flavors.list()) == []
