"""What the extra specs of a flavor say about the tiers of jobs."""

from collections.abc import Mapping

from nova_twotier.core.actions import BG, FG, Tier

#: The extra spec that lists the tiers which a job, or a hint, may choose from.
TIERS = "twotier:tiers"
#: Its values.
TIER_CHOICES: dict[str, tuple[Tier, ...]] = {
    "fg": (FG,),
    "bg": (BG,),
    "fg,bg": (FG, BG),
    "bg,fg": (FG, BG),
}


def job_tiers(extra_specs: Mapping[str, str]) -> tuple[Tier, ...]:
    """The tiers that a job may run in; a value that the scheduler will refuse limits nothing."""
    return TIER_CHOICES.get(extra_specs.get(TIERS, ""), (FG, BG))
