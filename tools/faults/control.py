"""The levers of a fake cloud's hosts, see `tools.fakecloud.control`."""

import requests

#: Seconds within which the cloud answers, also when it is busy.
PATIENCE = 30.0


class Control:
    """:param port: of the cloud's control server, on the loopback address."""

    def __init__(self, port: int):
        self._root = f"http://127.0.0.1:{port}"

    def host(self, name: str, state: str) -> list[str]:
        """Put a host into a state; returns the ids of the servers that lost power."""
        return self._put(f"/hosts/{name}", state=state).get("servers", [])

    def uploads(self, accepted: bool = True, seconds: float = 0.0) -> None:
        """Set how uploads of images end, and how long each takes."""
        self._put("/images", accepted=accepted, seconds=seconds)

    def cell(self, answers: bool) -> None:
        self._put("/cell", answers=answers)

    def conductor(self, **deaths: int) -> int:
        """How many requests to boot servers will be left half done.

        :param deaths: sets it, with the keyword `deaths`.
        """
        return self._put("/conductor", **deaths)["deaths"]

    def _put(self, path: str, **body) -> dict:
        answer = requests.put(self._root + path, json=body, timeout=PATIENCE)
        answer.raise_for_status()
        return answer.json()
