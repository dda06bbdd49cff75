"""The plugin interface of OpenStackClient for `openstack twotier ...`."""

from osc_lib import utils

from nova_twotier.client import rest

API_NAME = "twotier"
API_VERSION_OPTION = "os_twotier_api_version"
DEFAULT_API_VERSION = "1"
API_VERSIONS = ("1",)


def make_client(manager) -> rest.Api:
    """The API at --os-twotier-endpoint, else at the catalog's endpoint, else at --os-endpoint."""
    config = manager.get_configuration()
    return rest.Api(
        manager.session,
        config.get("twotier_endpoint") or config.get("twotier_endpoint_override"),
        region_name=manager.region_name,
        interface=manager.interface,
    )


def build_option_parser(parser):
    parser.add_argument(
        "--os-twotier-api-version",
        metavar="<twotier-api-version>",
        default=utils.env("OS_TWOTIER_API_VERSION"),
        help=f"Twotier API version, default={DEFAULT_API_VERSION} (Env: OS_TWOTIER_API_VERSION)",
    )
    parser.add_argument(
        "--os-twotier-endpoint",
        metavar="<twotier-endpoint>",
        default=utils.env("OS_TWOTIER_ENDPOINT"),
        help="URL of the twotier API, if it is not the catalog's, such as http://127.0.0.1:8782 "
        "(Env: OS_TWOTIER_ENDPOINT)",
    )
    return parser
