"""JSON Schemas of logins."""

from nova_twotier.api.schemas import PRINTABLE, object_of

_NAME = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": PRINTABLE}
_SECRET = {"type": "string", "minLength": 1, "maxLength": 4096}
DEFAULT_DOMAIN = "Default"

LOGIN = object_of(
    {
        "user": {**_NAME, "description": "Name of the user."},
        "password": {**_SECRET, "format": "password"},
        "domain": {
            **_NAME,
            "default": DEFAULT_DOMAIN,
            "description": "Name of the user's domain.",
        },
        "project": {
            **_NAME,
            "description": "Name of the project; by default the user's default project.",
        },
        "project_domain": {
            **_NAME,
            "description": "Name of the project's domain; by default the user's.",
        },
        "application_credential": {**_NAME, "description": "Id of an application credential."},
        "secret": {
            **_SECRET,
            "format": "password",
            "description": "The secret of the application credential.",
        },
    },
    required=(),
    oneOf=[
        {"required": ["user", "password"]},
        {"required": ["application_credential", "secret"]},
    ],
    description="give either user and password, or application_credential and secret",
)
_NAMED = object_of({"id": {"type": "string"}, "name": {"type": "string"}})
LOGGED_IN = object_of(
    {
        "token": {"type": "string", "description": "To send in X-Auth-Token."},
        "expires_at": {"type": "string", "format": "date-time"},
        "user": _NAMED,
        "project": _NAMED,
        "roles": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Names of the user's roles in the project.",
        },
    }
)

NAMED = {"Login": LOGIN, "LoggedIn": LOGGED_IN}
