"""Our extra specs of flavors and which values of them are right, and what of Nova's in flavors and
images does not go with them."""

import re
from collections.abc import Mapping

from nova_twotier.core.actions import BG, FG, Tier

#: The extra spec that names the tier of a flavor's VMs.
TIER = "twotier:tier"
#: The extra spec that lists the tiers which a job, or a hint, may choose from.
TIERS = "twotier:tiers"
#: Its values.
TIER_CHOICES: dict[str, tuple[Tier, ...]] = {
    "fg": (FG,),
    "bg": (BG,),
    "fg,bg": (FG, BG),
    "bg,fg": (FG, BG),
}
#: The extra spec that refuses servers without a job, and its values, as Nova parses booleans.
JOBS_ONLY = "twotier:jobs_only"
BOOLEANS = {
    **dict.fromkeys(("1", "t", "true", "on", "y", "yes"), True),
    **dict.fromkeys(("0", "f", "false", "off", "n", "no"), False),
}
#: The extra spec of stand-alone servers in the background that make way for jobs: what becomes of
#: them then, and its values.
PREEMPTIBLE = "twotier:preemptible"
SHELVE, DELETE = "shelve", "delete"
#: The extra spec of a VM's bandwidth, and the form of its values.
MBPS, MBPS_FORM = "twotier:mbps", r"[0-9]{1,9}(\.[0-9]{1,6})?"
MBPS_WORDS = "a number of Mbit/s, such as 250 or 12.5"
#: All of ours.
EXTRA_SPECS = (TIER, TIERS, JOBS_ONLY, PREEMPTIBLE, MBPS)
#: Most CPU points, percent of a slot, that a VM can use.
MOST_POINTS = 100
#: Nova's extra specs that give VMs CPUs of their own: this one with these values, and such
#: resources.
CPU_POLICY, PINNED = "hw:cpu_policy", ("dedicated", "mixed")
PINNED_RESOURCE = re.compile(r"resources([1-9][0-9]*)?:PCPU")
#: The property of images by which VMs have CPUs of their own, with the same values.
IMAGE_CPU_POLICY = "hw_cpu_policy"


def is_for_jobs_only(extra_specs: Mapping[str, str]) -> bool:
    """Whether a flavor is for jobs of the queue manager only.

    :raises ValueError: if its extra spec is not a boolean.
    """
    if JOBS_ONLY not in extra_specs:
        return False
    value = extra_specs[JOBS_ONLY].strip().lower()
    if value not in BOOLEANS:
        raise ValueError(f"{JOBS_ONLY} is {value!r}; set it to true or false")
    return BOOLEANS[value]


def own_cpus(extra_specs: Mapping[str, str]) -> list[str]:
    """The extra specs, as `key=value`, that pin VMs to CPUs of their own.

    Such VMs cannot share a slot with another tier.
    """
    return [
        f"{key}={value}"
        for key, value in extra_specs.items()
        if (key == CPU_POLICY and value in PINNED)
        or (PINNED_RESOURCE.fullmatch(key) and not is_nothing(value))
    ]


def own_cpus_by_image(properties: Mapping[str, str]) -> list[str]:
    """The property of an image, as `key=value`, that pins VMs to CPUs of their own."""
    value = properties.get(IMAGE_CPU_POLICY)
    return [f"{IMAGE_CPU_POLICY}={value}"] if value in PINNED else []


def is_nothing(amount: str) -> bool:
    """Whether the amount of a resource in an extra spec is 0."""
    try:
        return int(amount) == 0
    except ValueError:
        return False


def job_tiers(extra_specs: Mapping[str, str]) -> tuple[Tier, ...]:
    """The tiers that a job may run in; all of them if the scheduler would refuse the value."""
    return TIER_CHOICES.get(extra_specs.get(TIERS, ""), (FG, BG))


def preemption(extra_specs: Mapping[str, str]) -> str:
    """What becomes of stand-alone servers that make way for jobs; empty: they do not.

    Nor do they if the value is none that we know.
    """
    value = extra_specs.get(PREEMPTIBLE, "")
    return value if value in (SHELVE, DELETE) else ""


def wrong_value(extra_specs: Mapping[str, str]) -> tuple[str, str] | None:
    """The first extra spec whose value is wrong, and what it may be; None if all are right.

    For `JOBS_ONLY`, see `is_for_jobs_only`.
    """
    listed = extra_specs.get(TIERS)
    if listed is not None and listed not in TIER_CHOICES:
        return TIERS, ", ".join(TIER_CHOICES)
    allowed = job_tiers(extra_specs)
    if extra_specs.get(TIER, allowed[0]) not in allowed:
        return TIER, " or ".join(allowed)
    if not re.fullmatch(MBPS_FORM, extra_specs.get(MBPS, "0")):
        return MBPS, MBPS_WORDS
    if PREEMPTIBLE in extra_specs and not preemption(extra_specs):
        return PREEMPTIBLE, f"{SHELVE} or {DELETE}"
    return None


def is_points(text: str) -> bool:
    """Whether a text is a valid number of CPU points, 1 to 100."""
    return text.isdecimal() and 1 <= int(text) <= MOST_POINTS
