"""First fit: hosts in the order of the topology (Symmetry 2018, section 4.1, figure 3)."""

from nova_twotier.core.embedding.request import Embedding, Rejection, Request
from nova_twotier.core.embedding.search import smallest_subtree
from nova_twotier.core.embedding.state import State


def embed(request: Request, state: State) -> Embedding | Rejection:
    """Hosts of the smallest subtree that takes the request, in the order of the topology.

    "First fit strategy arranges the VMs to the servers in sequence": as AdaBa with equal weights.
    """
    return smallest_subtree(request, state, lambda kind: 0)
