"""Pytest plugin for tests on mutants: the same examples in each run, and few of them.

Without it, a mutant could be killed in one run and survive the next, a mutant that survives would
take minutes, and Hypothesis would look for the simplest example that kills one.
"""

import resource

import hypothesis
from hypothesis import HealthCheck, Phase, settings

import tests.unit  # noqa: F401  It loads the profile of the ordinary tests.

EXAMPLES = 10
#: A mutant whose loop never ends may not take all memory of the machine.
MEMORY_BYTES = 4 << 30


class FewExamples(settings):
    """Hypothesis's settings, for tests that ask for more examples than `EXAMPLES`."""

    def __init__(self, *parent, max_examples=EXAMPLES, **options):
        options["suppress_health_check"] = list(HealthCheck)
        super().__init__(*parent, max_examples=min(max_examples, EXAMPLES), **options)


def pytest_configure():
    settings.register_profile(
        "mutants",
        database=None,
        deadline=None,
        derandomize=True,
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        # Mutants are slower, and mutmut runs a test several times in a process.
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("mutants")
    hypothesis.settings = FewExamples
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
