"""Embedding of virtual clusters: which hosts take a job's VMs, by the bandwidth they ask for.

One algorithm a file, found by its name: `get("adaba")(request, state)`. It answers with an
`Embedding`, or with a `Rejection` that says why; the state stays as it is until `State.reserve`.
"""

from collections.abc import Callable

from nova_twotier.core.embedding import adaba, best_fit, first_fit, greedy, oktopus
from nova_twotier.core.embedding.request import Embedding, InvalidRequest, Rejection, Request
from nova_twotier.core.embedding.state import OutOfRoom, State
from nova_twotier.core.embedding.topology import InvalidTopology, Topology

__all__ = [
    "ALGORITHMS",
    "Embed",
    "Embedding",
    "InvalidRequest",
    "InvalidTopology",
    "OutOfRoom",
    "Rejection",
    "Request",
    "State",
    "Topology",
    "UnknownAlgorithm",
    "get",
]

Embed = Callable[[Request, State], Embedding | Rejection]


class UnknownAlgorithm(ValueError):
    """A name of an embedding algorithm that does not exist; the message lists those that do."""


ALGORITHMS: dict[str, Embed] = {
    "adaba": adaba.embed,
    "oktopus": oktopus.embed,
    "greedy": greedy.embed,
    "best-fit": best_fit.embed,
    "first-fit": first_fit.embed,
}


def get(name: str) -> Embed:
    """:raises UnknownAlgorithm: if there is no algorithm of that name."""
    try:
        return ALGORITHMS[name]
    except KeyError:
        known = ", ".join(sorted(ALGORITHMS))
        raise UnknownAlgorithm(f"there is no embedding {name!r}; choose one of: {known}") from None
