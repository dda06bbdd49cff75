"""Best fit: the fullest hosts first, whatever the bandwidth (Symmetry 2018, section 5.3.1)."""

from nova_twotier.core.embedding.request import Embedding, Rejection, Request
from nova_twotier.core.embedding.search import smallest_subtree
from nova_twotier.core.embedding.state import State


def embed(request: Request, state: State) -> Embedding | Rejection:
    """Hosts of the smallest subtree that takes the request, in ascending number of free slots.

    As AdaBa with another weight: "the servers are always sorted in increasing order of current
    number of idle slots without considering the requested bandwidth demands" (section 4.1).
    """
    return smallest_subtree(request, state, lambda kind: -kind[0])
