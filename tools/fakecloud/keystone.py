"""Keystone's files before it starts, and what it must know before the others do."""

import base64
import pathlib
import secrets
import subprocess
import sys

from keystoneauth1 import adapter

from nova_twotier.tools.fakecloud import bootstrap, novaconf
from nova_twotier.tools.fakecloud.errors import FakeCloudError
from nova_twotier.tools.fakecloud.handover import REGION, Access


def conf(database_url: str, run: pathlib.Path, twotier_url: str) -> dict[str, dict]:
    return {
        "DEFAULT": {"use_stderr": True},
        "database": {"connection": database_url},
        "identity": {"password_hash_rounds": 4},
        "token": {"provider": "fernet", "expiration": 7 * 24 * 3600},
        "fernet_tokens": {"key_repository": run / "fernet"},
        "fernet_receipts": {"key_repository": run / "fernet"},
        "credential": {"key_repository": run / "fernet"},
        # For an identity provider that somebody adds.
        "federation": {
            "trusted_dashboard": f"{twotier_url}/board",
            "sso_callback_template": novaconf.stock_file("keystone", "sso_callback_template.html"),
        },
    }


def prepare(etc: pathlib.Path, run: pathlib.Path, access: Access) -> None:
    """Keys, the administrator and the identity endpoint; what an operator does by hand."""
    keys = run / "fernet"
    keys.mkdir(mode=0o700)
    for name in ("0", "1"):
        (keys / name).write_bytes(base64.urlsafe_b64encode(secrets.token_bytes(32)))
    # The password goes by the environment: others can read a command line.
    ran = subprocess.run(  # noqa: S603 - Keystone's own command
        [
            sys.executable,
            "-c",
            "import sys; from keystone.cmd.manage import main; sys.exit(main())",
            "--config-file",
            str(etc / "keystone.conf"),
            "bootstrap",
        ],
        env=_bootstrap_environment(access),
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        reason = ran.stderr.strip().splitlines()[-1:] or ["no message"]
        raise FakeCloudError(f"keystone-manage bootstrap failed: {reason[0]}")


def _bootstrap_environment(access: Access) -> dict[str, str]:
    from nova_twotier.tools.fakecloud.cloud import environment

    return {
        **environment(),
        "OS_BOOTSTRAP_USERNAME": access.username,
        "OS_BOOTSTRAP_PASSWORD": access.password,
        "OS_BOOTSTRAP_PROJECT_NAME": access.project,
        "OS_BOOTSTRAP_ROLE_NAME": "admin",
        "OS_BOOTSTRAP_SERVICE_NAME": "keystone",
        "OS_BOOTSTRAP_REGION_ID": REGION,
        "OS_BOOTSTRAP_PUBLIC_URL": access.identity_url,
        "OS_BOOTSTRAP_INTERNAL_URL": access.identity_url,
    }


def fill_catalog(access: Access) -> None:
    session, _ = bootstrap.keystone_session(access, access.identity_url)
    identity = adapter.Adapter(session, endpoint_override=access.identity_url)
    for kind, name, url in (
        ("compute", "nova", access.compute_url),
        ("placement", "placement", access.placement_url),
        ("image", "glance", access.image_url),
        ("network", "neutron", access.network_url),
        ("twotier", "nova-twotier", access.twotier_url),
    ):
        service = identity.post("/services", json={"service": {"type": kind, "name": name}}).json()[
            "service"
        ]
        for interface in ("public", "internal"):
            identity.post(
                "/endpoints",
                json={
                    "endpoint": {
                        "service_id": service["id"],
                        "interface": interface,
                        "url": url,
                        "region_id": REGION,
                    }
                },
            )


def upload_image(access: Access, name: str) -> None:
    """A few bytes under the fixed id: the fake driver never reads them."""
    session, _ = bootstrap.keystone_session(access, access.image_url)
    image = adapter.Adapter(session, endpoint_override=access.image_url)
    image.post(
        "/v2/images",
        json={
            "id": access.image_id,
            "name": name,
            "visibility": "public",
            "disk_format": "raw",
            "container_format": "bare",
        },
    )
    image.put(
        f"/v2/images/{access.image_id}/file",
        data=b"fake",
        headers={"Content-Type": "application/octet-stream"},
    )
