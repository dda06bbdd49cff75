"""Long lists come in pages; each says where the next one is."""

from urllib.parse import urlencode

from nova_twotier.manager.api.operation import Call
from nova_twotier.manager.api.site import Site


def page_size(site: Site, call: Call) -> int:
    """Items that the answer has at most."""
    return min(call.query.get("limit", site.conf.api.max_limit), site.conf.api.max_limit)


def links(call: Call, path: str, marker: str | None) -> list[dict]:
    """
    :param marker: of the last item, if there is another page.
    """
    if marker is None:
        return []
    query = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in {**call.query, "marker": marker}.items()
    }
    return [{"rel": "next", "href": call.href(f"{path}?{urlencode(query)}")}]
