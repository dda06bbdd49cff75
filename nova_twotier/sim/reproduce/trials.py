"""What is tried where claims of the papers do not hold: one change at a time."""

from collections.abc import Callable
from dataclasses import replace

from nova_twotier.core.policies.amcbf import Amcbf
from nova_twotier.sim import variants
from nova_twotier.sim.reproduce.experiment import Settings, Trial
from nova_twotier.sim.scenario import Scenario

#: Seeds, where there were fewer; and times as many jobs of a model.
SEEDS, TIMES = 3, 5


def reading(**fields: str | float) -> Trial:
    """Another reading of how jobs advance; it makes no difference to policies of one tier."""

    def scenario(scenario: Scenario) -> Scenario:
        if variants.get(scenario.policy).tiers == 1:
            return scenario
        return replace(scenario, reading=scenario.reading | fields)

    return Trial(
        " ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in fields.items()
        ),
        scenario=scenario,
    )


def bandwidth(text: str) -> Trial:
    """Other demands for bandwidth.

    :param text: as `Bandwidth.parse` reads it; `by-size` or `normal` alone keeps the mean.
    """

    def scenario(scenario: Scenario) -> Scenario:
        _kind, colon, mean = (scenario.bandwidth or "").partition(":")
        wanted = text if ":" in text else f"{text}{colon}{mean}"
        return replace(scenario, bandwidth=wanted)

    return Trial(f"bandwidth={text}", scenario=scenario)


def _waiting_head(scenario: Scenario) -> Scenario:
    if scenario.policy != Amcbf.name:
        return scenario
    return replace(scenario, policy=variants.AmcbfWaitingHead.name)


def _more_seeds(settings: Settings) -> Settings:
    return replace(settings, seeds=max(SEEDS, settings.seeds))


def _more_jobs(usual: int) -> Callable[[Settings], Settings]:
    def settings(settings: Settings) -> Settings:
        return replace(settings, model_jobs=TIMES * (settings.model_jobs or usual))

    return settings


#: How a background job may be meant to advance.
OWN_WORK = reading(processes="own")
SLICES = reading(draw="slice")
#: No difference with TPDS 2013, where no job is in the background of a slot that is so busy.
NO_FLOOR = reading(floor=0.0)
#: The difference may be one of the draws.
MORE_SEEDS = Trial(f"{SEEDS} seeds", settings=_more_seeds)
#: "The head of the queue" may be one that waits.
WAITING_HEAD = Trial(variants.AmcbfWaitingHead.name, scenario=_waiting_head)


def more_jobs(usual: int) -> Trial:
    """The workload may be too short.

    :param usual: jobs of a model if the user does not say.
    """
    return Trial(f"{TIMES} times the jobs", settings=_more_jobs(usual))
