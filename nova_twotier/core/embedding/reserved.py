"""Embedding within bandwidth that was reserved for just this request."""

from nova_twotier.core.embedding import adaba, exact
from nova_twotier.core.embedding.request import Embedding, Rejection, Request
from nova_twotier.core.embedding.state import State


def embed(request: Request, state: State) -> Embedding | Rejection:
    """As AdaBa; and where that finds no place, whatever place there is.

    A reservation is exactly what one placement needs. AdaBa found that on links with more left, and
    in so little it may miss it.

    :param state: what is left of links is the reservation (in experiments, all that is left).
    """
    found = adaba.embed(request, state)
    return found if isinstance(found, Embedding) else exact.embed(request, state)
