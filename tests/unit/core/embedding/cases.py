"""Small networks in some state, and requests to them, as plain data."""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from nova_twotier.core.embedding import Request, State, Topology
from tests.unit.core import builders  # noqa: F401 (its profile of hypothesis)

SWITCHES = ("core", "core/a", "core/a/x", "core/a/y", "core/b", "core/b/x/deep")
RATES = (0, 100, 200, 300, 1000, 1000)
#: True in five of six draws; an integer that is to be above 0 is 0 far more often than that.
MOSTLY = st.sampled_from((True,) * 5 + (False,))


@dataclass
class Case:
    """Hosts' switches, rates by link, and by host or link what is left where not all is."""

    paths: dict[str, str]
    rates: dict[str, int]
    slots: dict[str, int]
    free: dict[str, int] = field(default_factory=dict)
    residual: dict[str, int] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)
    max_mbps: int = 0

    def topology(self):
        return Topology.from_paths(self.paths, self.rates)

    def state(self):
        return State(
            self.topology(),
            self.slots,
            free=self.free,
            residual=self.residual,
            closed=self.closed,
            max_mbps=self.max_mbps,
        )


def links(paths):
    """The names of all links of a tree."""
    found = set(paths)
    for path in paths.values():
        steps = path.split("/")
        found |= {"/".join(steps[:length]) for length in range(2, len(steps) + 1)}
    return sorted(found)


def two_hosts():
    """A network in which three VMs need bandwidth, since no host has slots for all."""
    return Case({"h0": "core", "h1": "core"}, {"h0": 1000, "h1": 1000}, {"h0": 2, "h1": 2})


@st.composite
def cases(draw, hosts=5, slots=4, observed=True):
    """Networks; `observed` ones are in use, also by more than there is, and have closed hosts.

    Most hosts and links have room, or hardly a request would be spread over several hosts.
    """
    count = draw(st.sampled_from(range(1, hosts + 1)))
    switches = [draw(st.sampled_from(SWITCHES)) for _host in range(count)]
    paths = {f"h{number}": switch for number, switch in enumerate(switches)}
    counted = [link for link in links(paths) if draw(MOSTLY)]
    case = Case(
        paths,
        {link: draw(st.sampled_from(RATES)) for link in counted},
        {host: draw(st.integers(1, slots)) for host in paths},
        max_mbps=draw(st.sampled_from((0, 100, 400))),
    )
    if observed:
        case.free = {
            host: most if draw(MOSTLY) else draw(st.integers(-1, most))
            for host, most in case.slots.items()
        }
        case.residual = {
            link: rate if draw(MOSTLY) else draw(st.integers(-1, rate // 50)) * 50
            for link, rate in case.rates.items()
        }
        case.closed = [host for host in paths if not draw(MOSTLY)]
    return case


requests = st.builds(
    Request,
    st.sampled_from((1, 2, 3, 4, 4, 5, 5, 6, 7, 9)),
    st.sampled_from((0, 50, 50, 75, 100, 200, 400)),
)
