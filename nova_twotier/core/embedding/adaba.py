"""AdaBa: adaptive bandwidth-aware embedding (Symmetry 2018, section 4.1, algorithm 1)."""

from nova_twotier.core.embedding.request import Embedding, Rejection, Request
from nova_twotier.core.embedding.search import smallest_subtree
from nova_twotier.core.embedding.state import Kind, State


def embed(request: Request, state: State) -> Embedding | Rejection:
    """Hosts of the smallest subtree that takes the request, in descending weight (equation 7).

    Requests of little bandwidth fill up hosts, those of much get empty ones, where it stays within
    the host. Bmax is the larger of `state.max_mbps` and the request's own B (line 1); where nothing
    was ever asked for, B / Bmax is 0.
    """
    max_mbps = max(state.max_mbps, request.mbps, 1)

    def weight(kind: Kind) -> int:
        """Equation 7 times 2 * Bmax: a whole number, so that equal weights are equal."""
        free, slots = kind
        return (2 * slots * request.mbps - max_mbps * free) * free

    return smallest_subtree(request, state, weight)
