"""Single sign-on at the real Keystone of a full cloud.

In place of an identity provider's module of the web server, a header of the request says who it is:
Keystone takes everything in the WSGI environment for what such a module has found out.
"""

import html
import re

import requests
from keystoneauth1 import adapter

from nova_twotier.tools.fakecloud import bootstrap, handover

WAY = "acme/mapped"
_IDENTIFIED = {"X-Remote-User": "sofia"}
_PROJECTS = ("research", "teaching")
_RULES = [
    {
        "remote": [{"type": "HTTP_X_REMOTE_USER"}],
        "local": [
            {"user": {"name": "{0}"}},
            {"projects": [{"name": name, "roles": [{"name": "member"}]} for name in _PROJECTS]},
        ],
    }
]


def add_provider(cloud):
    """An operator makes Keystone know the identity provider."""
    access = handover.read(cloud.info())
    session, _region = bootstrap.keystone_session(access, access.identity_url)
    identity = adapter.Adapter(session, endpoint_override=f"{access.identity_url}/OS-FEDERATION")
    provider, protocol = WAY.split("/")
    for path, body in (
        ("/mappings/acme", {"mapping": {"rules": _RULES}}),
        (f"/identity_providers/{provider}", {"identity_provider": {"enabled": True}}),
        (
            f"/identity_providers/{provider}/protocols/{protocol}",
            {"protocol": {"mapping_id": "acme"}},
        ),
    ):
        identity.put(path, json=body)


def sign_on(board):
    """What browser and page do from the choice of the provider to the list of jobs."""
    api = board.removesuffix("/board")
    [choice] = _asked("GET", f"{board}/settings.json").json()["websso"]
    page = _asked("GET", choice["url"], params={"origin": board}, headers=_IDENTIFIED).text
    [action] = re.findall('<form [^>]*action="([^"]*)"', page)
    [token] = re.findall('<input [^>]*name="token"[^>]* value="([^"]*)"', page)
    assert html.unescape(action) == board
    origin = "/".join(choice["url"].split("/")[:3])
    landed = _asked("POST", board, data={"token": token}, headers={"Origin": origin}).text
    assert re.findall('data-token="([^"]*)"', landed) == [token]
    found = _asked("POST", f"{api}/v1/login/projects", json={"token": token}).json()["projects"]
    assert [each["name"] for each in found] == list(_PROJECTS)
    login = {"token": token, "project_id": found[0]["id"]}
    entered = _asked("POST", f"{api}/v1/login", json=login).json()
    assert entered["user"]["name"] == "sofia"
    assert entered["project"]["name"] == _PROJECTS[0]
    headers = {"X-Auth-Token": entered["token"]}
    assert _asked("GET", f"{api}/v1/jobs", headers=headers).json()["jobs"] == []
    # The token for no project is good for nothing else.
    assert (
        requests.get(f"{api}/v1/jobs", headers={"X-Auth-Token": token}, timeout=60).status_code
        == 403
    )


def _asked(method, url, **rest):
    answer = requests.request(method, url, timeout=60, **rest)
    assert answer.ok, (url, answer.status_code, answer.text)
    return answer
