"""JSON Schemas of logins."""

from nova_twotier.api.schemas import PRINTABLE, object_of

_NAME = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": PRINTABLE}
_SECRET = {"type": "string", "minLength": 1, "maxLength": 4096}
#: What a token of Keystone may consist of, since it is sent in a header.
VISIBLE = "^[\\x21-\\x7e]*$"
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
        "token": {
            **_SECRET,
            "pattern": VISIBLE,
            "format": "password",
            "description": "A token of Keystone for no project, such as that of a single sign-on.",
        },
        "project_id": {
            **_NAME,
            "description": "Id of the project to get a token for with `token`.",
        },
    },
    required=(),
    oneOf=[
        {"required": ["user", "password"]},
        {"required": ["application_credential", "secret"]},
        {"required": ["token", "project_id"]},
    ],
    description="give either user and password, or application_credential and secret, or token and "
    "project_id",
)
WHOSE_PROJECTS = object_of({"token": LOGIN["properties"]["token"]})
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
PROJECTS = object_of(
    {
        "projects": {
            "type": "array",
            "items": object_of(
                {
                    "id": {"type": "string"},
                    "name": {"type": "string"},
                    "domain_id": {"type": "string"},
                }
            ),
        }
    }
)

NAMED = {
    "Login": LOGIN,
    "LoggedIn": LOGGED_IN,
    "LoginToken": WHOSE_PROJECTS,
    "LoginProjects": PROJECTS,
}
