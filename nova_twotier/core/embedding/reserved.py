"""Embedding within the bandwidth that is reserved for this request."""

from nova_twotier.core.embedding import adaba, exact
from nova_twotier.core.embedding.request import Embedding, Rejection, Request
from nova_twotier.core.embedding.state import State


def embed(request: Request, state: State) -> Embedding | Rejection:
    """AdaBa's placement or, if it finds none, any placement.

    A reservation is exactly what one placement needs. AdaBa found it on links with more bandwidth
    left, and may miss it in so little.

    :param state: what is left of links is the reservation (in experiments, all that is left).
    """
    found = adaba.embed(request, state)
    return found if isinstance(found, Embedding) else exact.embed(request, state)
