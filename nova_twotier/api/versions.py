"""Microversions: their history, and the negotiation for each request."""

import microversion_parse

from nova_twotier.api.errors import Refused

SERVICE = "twotier"
HEADER = "OpenStack-API-Version"

#: All microversions with their changes, oldest first.
HISTORY = {
    "1.0": "Jobs, queue, hosts, topology and events.",
    "1.1": "Lists, queue, schedule and utilisation have an ETag. So that they are the same until "
    "something changes, jobs in lists have no `elapsed`, and a queue whose manager is at work no "
    "`heartbeat_at`. Hosts come in pages.",
}
VERSIONS = list(HISTORY)
OLDEST, NEWEST = VERSIONS[0], VERSIONS[-1]
#: The first version whose lists may be asked for conditionally.
CONDITIONAL = "1.1"


def at_least(version: str, least: str) -> bool:
    """Whether a microversion is at least another one."""
    return VERSIONS.index(version) >= VERSIONS.index(least)


class Negotiation:
    """Falcon middleware: `req.context.version` is the version asked for, and the answer says so."""

    def process_request(self, req, _resp):
        req.context.version = OLDEST
        headers = microversion_parse.headers_from_wsgi_environ(req.env)
        try:
            version = microversion_parse.extract_version(headers, SERVICE, VERSIONS)
        except TypeError:
            raise Refused(
                400, "version.invalid", f"{HEADER} must be `{SERVICE} <major>.<minor>`"
            ) from None
        except ValueError:
            raise Refused(
                406,
                "version.unsupported",
                f"this version is not served; ask for {OLDEST} to {NEWEST} in {HEADER}",
                min_version=OLDEST,
                max_version=NEWEST,
            ) from None
        req.context.version = str(version)

    def process_response(self, req, resp, _resource, _succeeded):
        resp.set_header(HEADER, f"{SERVICE} {getattr(req.context, 'version', OLDEST)}")
        resp.append_header("Vary", HEADER)
