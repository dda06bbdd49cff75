"""`twotier-manager`: the queue manager's daemon."""

import sys
from functools import partial

from nova_twotier import conf as config
from nova_twotier.cloud.errors import CloudError
from nova_twotier.db.store import StoreError
from nova_twotier.manager import daemon

DESCRIPTION = (
    "The queue manager: decides which jobs run in which tier, and has Nova boot, move and delete "
    "their servers."
)


def main(args: list[str] | None = None) -> int:
    given = sys.argv[1:] if args is None else args
    load = partial(config.load, given, "twotier-manager", DESCRIPTION)
    try:
        conf = load()
        config.start_logging(conf)
        daemon.run(conf, check=load)
    except (config.ConfigError, StoreError, CloudError, OSError) as error:
        print(f"twotier-manager: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
