"""The parameters of a run, and what of them cannot be simulated."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from nova_twotier.core import policies
from nova_twotier.core import progress as models
from nova_twotier.core.fair_share import (
    BACKGROUND_WEIGHT,
    HALF_LIFE,
    LONGEST_OFFSET,
    FairShare,
)
from nova_twotier.core.policies import Policy
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.sim import calibration, classes, estimates, network, rivals, variants
from nova_twotier.sim.classes import Classes
from nova_twotier.sim.easy_plus_plus import EasyPlusPlus
from nova_twotier.sim.workloads.bandwidth import Bandwidth
from nova_twotier.sim.workloads.swf import NO_CLASSES
from nova_twotier.sim.workloads.utilisation import Utilisation
from nova_twotier.sim.workloads.workload import Workload

#: Whose use fair share may go by.
OWNERS = ("user", "group")


class InvalidScenario(ValueError):
    """A scenario that cannot be simulated; the message says which field and what it may be."""


@dataclass(frozen=True)
class Scenario:
    """All parameters of a run except its workload.

    :param slots: slots of a host.
    :param tiers: K; by default as many as the policy uses.
    :param progress: the name of a progress model, or the path of a calibration.
    :param reading: fields of the model that differ from it.
    :param migration_cost: seconds that a job loses when it is restored or migrates.
    :param threshold: foreground CPU utilisation from which on a slot is closed.
    :param estimates: what the policy is told of run times, as `estimates.check` has it.
    :param rerank: as of `Predictions`, for the policies that order by deadline.
    :param understated: share of the jobs, drawn, whose estimate is told at a tenth.
    :param deadline_factor: as of `Policy`, for those that order by deadline.
    :param fair_share: whose recent use puts jobs back: "user" or "group"; None: nobody's.
    :param half_life: as of `FairShare`; so are the next two.
    :param qos: the classes, as `classes.check` has it; None: all are normal.
    :param topology: of a network that guarantees bandwidth, as `network.topology` reads it.
    :param embedding: which hosts take a job there, by name (`rivals.get`).
    :param bandwidth: what jobs ask for, as `Bandwidth.parse` reads it; None: nothing.
    :param queueing: whether jobs wait; else those that do not fit at their arrival are rejected.
    :param seed: of the utilisations and bandwidths, and of what the model draws.
    :raises InvalidScenario, policies.UnknownPolicy, models.InvalidModel, InvalidFairShare,
        InvalidClasses, and those of the embedding, the topology and the bandwidth: if a field is
        wrong.
    """

    policy: str
    slots: int = 1
    tiers: int | None = None
    utilisation: Utilisation = field(default_factory=Utilisation)
    progress: str = "tpds"
    reading: dict = field(default_factory=dict)
    migration_cost: float = 20.0
    threshold: float = THRESHOLD
    estimates: str = estimates.USER
    rerank: bool = True
    understated: float = 0.0
    deadline_factor: float = 1.0
    fair_share: str | None = None
    half_life: float = HALF_LIFE
    background_weight: float = BACKGROUND_WEIGHT
    longest_offset: float = LONGEST_OFFSET
    qos: str | None = None
    topology: str | None = None
    embedding: str = "adaba"
    bandwidth: str | None = None
    queueing: bool = True
    seed: int = 0

    def __post_init__(self):
        policy = variants.get(self.policy)
        for name, lowest in (("slots", 1), ("tiers", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and value >= lowest):
                raise InvalidScenario(f"{name} is {value}; give a whole number from {lowest}")
        for name in ("migration_cost", "threshold", "deadline_factor"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InvalidScenario(f"{name} is {getattr(self, name)}; give 0 or more")
        estimates.check(self.estimates)
        if not 0 <= self.understated <= 1:
            raise InvalidScenario(f"understated is {self.understated}; give a share of 0 to 1")
        if self.fair_share not in (None, *OWNERS):
            raise InvalidScenario(
                f"fair share is by {self.fair_share!r}; choose one of: {', '.join(OWNERS)}"
            )
        self.sharing()
        if self.fair_share is not None and not self.queueing:
            raise InvalidScenario("fair share orders a queue; without one, leave it out")
        if self.qos is not None:
            self._check_classes(policy)
        if self.policy == EasyPlusPlus.name and self.estimates != estimates.USER:
            raise InvalidScenario(
                f"{self.policy} predicts by itself; leave estimates out, or take easy-sjf"
            )
        self.model()
        rivals.get(self.embedding)
        if self.bandwidth is not None:
            Bandwidth.parse(self.bandwidth)
        if self.topology is not None:
            network.topology(self.topology)
        self._check_embedding(policy)

    def _check_embedding(self, policy: Policy) -> None:
        for fails, where, able in (
            (self.topology is not None, "on a topology", lambda each: each.embeds),
            (not self.queueing, "without a queue", lambda each: each.embeds and each.tiers == 1),
        ):
            if fails and not able(policy):
                names = ", ".join(n for n, each in policies.POLICIES.items() if able(each))
                raise InvalidScenario(
                    f"{self.policy} cannot decide {where}; choose one of: {names}"
                )

    def check_jobs(self, workload: Workload) -> None:
        """Require a workload that names the owners or classes of its jobs, if they are asked for.

        :raises InvalidScenario: if it has no owners for fair share, or no classes or some that
            cannot be simulated where they are those of the trace.
        """
        if self.fair_share is not None and not self.owners(workload):
            raise InvalidScenario(
                f"{workload.name} has no {self.fair_share}s for fair share; take a trace with them"
            )
        if self.qos != classes.TRACE:
            return
        if not workload.classes:
            raise InvalidScenario(f"{workload.name} {NO_CLASSES}")
        if SCAVENGER in workload.classes:
            self._require_background(variants.get(self.policy))

    def check(self, workload: Workload) -> None:
        """Require a workload of which the results are what they are called.

        It could be simulated: on more slots than the load is for, or with predictions of nothing.

        :raises InvalidScenario: if the nodes of the workload are no multiple of the slots of a
            host, or not the slots of the topology, or if it has no users and run times are
            predicted from those of a user's jobs.
        """
        self.check_topology(workload.nodes)
        self._check_slots(workload)
        self._check_users(workload)

    def check_topology(self, nodes: int) -> None:
        """:raises InvalidScenario: if a workload is for other nodes than the topology has slots."""
        if self.topology is None:
            return
        there = len(network.topology(self.topology).hosts) * self.slots
        if nodes != there:
            raise InvalidScenario(
                f"{self.topology} with --slots {self.slots} has {there} slots; the workload is for "
                f"{nodes}: give --nodes {there}, or leave --nodes out"
            )

    def _check_users(self, workload: Workload) -> None:
        if workload.users:
            return
        if self.policy == EasyPlusPlus.name:
            what = f"the predictions of {self.policy}"
        elif estimates.needs_users(self.estimates):
            what = f"estimates {self.estimates}"
        else:
            return
        raise InvalidScenario(f"{workload.name} has no users for {what}; take a trace with them")

    def _check_slots(self, workload: Workload) -> None:
        nodes, slots = workload.nodes, self.slots
        if self.topology is not None or nodes % slots == 0:
            return
        less = nodes - nodes % slots
        near = f"{less} or {less + slots}" if less else str(slots)
        raise InvalidScenario(
            f"{workload.name} is for {nodes} nodes, which is no multiple of {slots} slots: give "
            f"--nodes {near}"
        )

    def _check_classes(self, policy: Policy) -> None:
        classes.check(self.qos or "")
        if self.qos != classes.TRACE and Classes.parse(self.qos or "").scavenger:
            self._require_background(policy)
        if not self.queueing:
            raise InvalidScenario("classes order a queue; without one, leave them out")

    def _require_background(self, policy: Policy) -> None:
        tiers = policy.tiers if self.tiers is None else min(self.tiers, policy.tiers)
        if tiers == 1:
            able = ", ".join(n for n, each in policies.POLICIES.items() if each.tiers > 1)
            raise InvalidScenario(
                f"scavengers run in the background only, and {self.policy} has none here; choose "
                f"one of: {able}, with two tiers or more"
            )

    def model(self) -> models.Progress:
        return models.load(self.reading, "reading", calibration.get(self.progress))

    def owners(self, workload: Workload) -> Mapping[int, int]:
        """The owner to whom fair share charges the work of each job, by job number."""
        return workload.users if self.fair_share == "user" else workload.groups

    def sharing(self) -> FairShare:
        return FairShare(self.half_life, self.background_weight, self.longest_offset)
