"""`twotier-manager`: the queue manager's daemon."""

import signal
import sys
import threading

from oslo_log import log as logging
from sqlalchemy.exc import SQLAlchemyError

from nova_twotier import conf as config
from nova_twotier.core import policies
from nova_twotier.ledger.placement import PlacementError
from nova_twotier.manager.cloud import Cloud, CloudError, placement_for
from nova_twotier.manager.db.store import Store, StoreError
from nova_twotier.manager.engine import Engine
from nova_twotier.manager.single import AlreadyRunning, single

LOG = logging.getLogger(__name__)


def main(args: list[str] | None = None) -> int:
    try:
        conf = config.load(sys.argv[1:] if args is None else args, "twotier-manager")
        logging.setup(conf, "nova-twotier")
        with single(conf.state_path):
            engine = Engine(
                conf.manager,
                Store(conf.database.connection),
                Cloud(conf),
                placement_for(conf),
                policies.get(conf.manager.policy),
            )
            _run(engine, conf.manager.poll_interval)
    except (config.ConfigError, StoreError, AlreadyRunning, CloudError, OSError) as error:
        print(f"twotier-manager: {error}", file=sys.stderr)
        return 1
    return 0


def _run(engine: Engine, interval: float) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    LOG.info("The queue manager is at work")
    trouble = ""
    while not stop.is_set():
        before, trouble, again = trouble, "", False
        try:
            again = engine.look()
        except (CloudError, PlacementError, SQLAlchemyError) as error:
            trouble = str(error)
        if trouble and trouble != before:
            LOG.error("%s Trying again every %s s.", trouble, interval)
        if not again:
            stop.wait(interval)
    engine.close()
    LOG.info("The queue manager has stopped; jobs go on, and so will it when started again")


if __name__ == "__main__":
    sys.exit(main())
