"""`twotier-manager`: the queue manager's daemon."""

import sys
from functools import partial

from nova_twotier import conf as config
from nova_twotier.cloud.errors import CloudError
from nova_twotier.db.store import StoreError
from nova_twotier.manager import daemon


def main(args: list[str] | None = None) -> int:
    load = partial(config.load, sys.argv[1:] if args is None else args, "twotier-manager")
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
