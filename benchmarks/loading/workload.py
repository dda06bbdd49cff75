"""Jobs of a busy site, drawn."""

import random
import uuid
from collections.abc import Iterator

from nova_twotier.db.models import Job

#: Processes of a job: small ones are many, and powers of two.
SIZES = (1, 1, 1, 2, 2, 4, 8, 8, 16, 16, 32, 64, 128)
#: Seconds of an estimate; every tenth job has none.
ESTIMATES = (600.0, 3600.0, 14_400.0, 43_200.0)


def jobs(first: float, seed: int = 1, largest: int = max(SIZES)) -> Iterator[Job]:
    """One after the other, submitted every 10 s from `first` on."""
    rng = random.Random(seed)  # noqa: S311
    sizes = [size for size in SIZES if size <= largest]
    number = 0
    while True:
        number += 1
        size = rng.choice(sizes)
        yield Job(
            number=number,
            uuid=str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            size=size,
            cpu=[round(rng.uniform(0.1, 0.9), 2)] * size,
            estimate=None if rng.random() < 0.1 else rng.choice(ESTIMATES),
            submitted_at=first + 10.0 * number,
            preemption="shelve",
            retries=3,
        )
