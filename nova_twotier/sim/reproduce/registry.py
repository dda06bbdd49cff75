"""The experiments by name."""

from nova_twotier.sim.reproduce import (
    bursts,
    cisne,
    estimate_study,
    fair_share,
    jss_figures,
    jss_tables,
    policy_study,
    prediction,
    readings,
    symmetry_embedding,
    symmetry_scheduling,
    tpds_figures,
    two_tier_bandwidth,
)
from nova_twotier.sim.reproduce.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        jss_tables.TABLE1,
        jss_tables.TABLE2,
        *jss_figures.EXPERIMENTS,
        *tpds_figures.EXPERIMENTS,
        *readings.EXPERIMENTS,
        *symmetry_embedding.EXPERIMENTS,
        *symmetry_scheduling.EXPERIMENTS,
        policy_study.STUDY,
        bursts.STUDY,
        *cisne.EXPERIMENTS,
        prediction.TRACES,
        estimate_study.STUDY,
        fair_share.STUDY,
        two_tier_bandwidth.STUDY,
    )
}


class UnknownExperiment(ValueError):
    """An experiment name that does not exist; the message lists those that do."""


def get(name: str) -> Experiment:
    """:raises UnknownExperiment: if there is none of that name."""
    if name not in EXPERIMENTS:
        raise UnknownExperiment(
            f"there is no experiment {name!r}; choose one of: {', '.join(EXPERIMENTS)}"
        )
    return EXPERIMENTS[name]
