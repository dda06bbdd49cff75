"""Collections of Nova's API, answered page by page as Nova does."""


def serve(http, url, items, key="id", page=1000):
    """Answer `url` with these items, `page` of them at a time, by `marker` or `offset`.

    :param http: of requests_mock.
    :param key: what `marker` names.
    """
    path = url.rpartition("/v2.1/")[2]
    name = path.partition("/")[0].removeprefix("os-").replace("-", "_")

    def answer(request, _context):
        marker = request.qs.get("marker", [None])[0]
        markers = [str(each[key]) for each in items] if marker else []
        start = markers.index(marker) + 1 if marker else int(request.qs.get("offset", [0])[0])
        return {name: items[start : start + page]}

    return http.get(url, json=answer)
