"""The files that tell others how to reach the cloud: cloud.json, openrc and nova-twotier.conf."""

import dataclasses
import json
import shlex

from nova_twotier.tools.fakecloud import inifile, options
from nova_twotier.tools.fakecloud.layout import Layout, write_atomically
from nova_twotier.tools.fakecloud.settings import Settings

FLAVOR = "twotier.slot"
PLAIN_FLAVOR = "plain"
AGGREGATE = "twotier"
REGION = "RegionOne"

# Enough for unshelving to a host; from 2.96 on, listing servers reads each one's request as well.
MICROVERSION = "2.95"


@dataclasses.dataclass(frozen=True)
class Access:
    """How an administrator reaches the services: by token (embedded) or password (full)."""

    compute_url: str
    placement_url: str
    image_url: str
    network_url: str
    identity_url: str
    twotier_url: str
    image_id: str
    token: str | None = None
    username: str | None = None
    password: str | None = None
    project: str | None = None

    def auth(self, endpoint: str) -> dict[str, str]:
        """Options of a keystoneauth section for the service at the endpoint."""
        if self.token:
            return {"auth_type": "admin_token", "endpoint": endpoint, "token": self.token}
        return {
            "auth_type": "password",
            "auth_url": self.identity_url,
            "username": self.username,
            "password": self.password,
            "project_name": self.project,
            "user_domain_name": "Default",
            "project_domain_name": "Default",
            "region_name": REGION,
        }

    def environment(self) -> dict[str, str]:
        """OS_* variables for the `openstack` command."""
        common = {"OS_IDENTITY_API_VERSION": "3", "OS_COMPUTE_API_VERSION": MICROVERSION}
        if not self.token:
            return {
                **common,
                "OS_AUTH_TYPE": "password",
                "OS_AUTH_URL": self.identity_url,
                "OS_USERNAME": self.username,
                "OS_PASSWORD": self.password,
                "OS_PROJECT_NAME": self.project,
                "OS_USER_DOMAIN_NAME": "Default",
                "OS_PROJECT_DOMAIN_NAME": "Default",
                "OS_REGION_NAME": REGION,
            }
        return {
            **common,
            "OS_AUTH_TYPE": "admin_token",
            # osc-placement takes only this one; all others take what follows.
            "OS_ENDPOINT": self.placement_url,
            "OS_TOKEN": self.token,
            "OS_COMPUTE_ENDPOINT_OVERRIDE": self.compute_url,
            "OS_PLACEMENT_ENDPOINT_OVERRIDE": self.placement_url,
            "OS_IMAGE_ENDPOINT_OVERRIDE": self.image_url,
            "OS_IDENTITY_ENDPOINT_OVERRIDE": self.identity_url,
            "OS_NETWORK_ENDPOINT_OVERRIDE": self.network_url,
            "OS_TWOTIER_ENDPOINT_OVERRIDE": self.twotier_url,
        }


def write_manager_conf(layout: Layout, access: Access) -> None:
    """The configuration of the queue manager and its API: ours, then the user's own options."""
    sections = {
        "DEFAULT": {"state_path": layout.root / "twotier"},
        "nova": access.auth(access.compute_url),
        "placement": access.auth(access.placement_url),
        "manager": {"flavor": FLAVOR, "image": access.image_id},
        "api": {"auth_strategy": "noauth" if access.token else "keystone", "board": True},
    }
    if not access.token:
        sections["keystone_authtoken"] = {
            **access.auth(access.identity_url),
            "www_authenticate_uri": access.identity_url,
        }
    inifile.write(layout.manager_conf, inifile.merge(sections, options.read(layout.options)))


def write(settings: Settings, layout: Layout, access: Access, processes, ports) -> dict:
    """Write openrc and cloud.json; this one last, its presence says that all is ready."""
    write_atomically(
        layout.openrc,
        "".join(
            f"export {name}={shlex.quote(value)}\n" for name, value in access.environment().items()
        ),
    )
    info = {
        "mode": settings.mode,
        "dir": str(layout.root),
        "hosts": settings.host_names,
        "slots": settings.slots,
        "tiers": settings.tiers,
        "plugin": settings.plugin,
        "manager": settings.manager,
        "urls": {
            "compute": access.compute_url,
            "placement": access.placement_url,
            "image": access.image_url,
            "network": access.network_url,
            "identity": access.identity_url,
            "twotier": access.twotier_url,
        },
        "image": access.image_id,
        "flavor": FLAVOR,
        "plain_flavor": PLAIN_FLAVOR,
        "aggregate": AGGREGATE,
        "auth": access.auth(access.compute_url),
        "pids": {process.name: process.pid for process in processes},
        "ports": ports,
        "files": {"openrc": str(layout.openrc), "manager_conf": str(layout.manager_conf)},
    }
    write_atomically(layout.cloud_json, json.dumps(info, indent=2) + "\n")
    return info


def read(info: dict, token: str | None = None) -> Access:
    """The access that cloud.json describes, as another user when a token is given (embedded)."""
    urls, auth = info["urls"], info["auth"]
    return Access(
        compute_url=urls["compute"],
        placement_url=urls["placement"],
        image_url=urls["image"],
        network_url=urls["network"],
        identity_url=urls["identity"],
        twotier_url=urls["twotier"],
        image_id=info["image"],
        token=token or auth.get("token"),
        username=auth.get("username"),
        password=auth.get("password"),
        project=auth.get("project_name"),
    )
