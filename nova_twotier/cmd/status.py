"""`nova-twotier-status`: verifies a deployment; its only command is `upgrade check`, as in Nova."""

import sys
from concurrent.futures import ThreadPoolExecutor

from oslo_config import cfg
from oslo_log import log as logging
from oslo_upgradecheck import upgradecheck
from oslo_upgradecheck.upgradecheck import Result

from nova_twotier import conf as config
from nova_twotier.audit import unified_limits
from nova_twotier.audit.checks import (
    config_files,
    configuration,
    deployment,
    facts,
    isolation,
    keys,
    nova_options,
    openings,
    pools,
)
from nova_twotier.audit.checks import unified_limits as limits
from nova_twotier.audit.checks.results import failure, success, warning
from nova_twotier.audit.nova import Nova
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.listing import AT_ONCE, Lister
from nova_twotier.cloud.sessions import placement_for, session_for
from nova_twotier.conf import agent, arguments, cloud, manager, scheduler
from nova_twotier.ledger.placement import PlacementError

#: Projects whose configuration files are read, if they exist: nova-scheduler's and ours.
PROJECTS = ("nova", "nova-twotier")


def api_policy(conf: cfg.ConfigOpts) -> Result:
    """The rules of the API's policy file must be right, or it does not start."""
    ours = config_files.of_us(conf)
    if ours is None:
        return success("not checked: give the file of twotier-api with --config-file")
    try:
        from nova_twotier.api import policies
    except ModuleNotFoundError as error:
        if error.name != "oslo_policy":
            raise
        return success("not checked: run this where twotier-api is installed")
    try:
        policies.enforcer(ours)
    except config.ConfigError as error:
        return failure(f"{error}; twotier-api does not start with it")
    return success()


CONFIGURATION = (
    ("Configuration of Nova", configuration.nova_conf),
    ("Filters that can be loaded", configuration.available_filters),
    ("Filters and their order", configuration.enabled_filters),
    ("Weighers", configuration.weighers),
    ("Options of the plugin", configuration.plugin),
    ("Image and network of jobs", configuration.job_defaults),
    ("Metrics of the node agent", configuration.agent_metrics),
    ("One attempt for a gang", configuration.attempts),
    ("The best host wins", configuration.best_host),
    ("Preempted jobs and quota", configuration.quota_counting),
    ("Preempted jobs and slots", configuration.offloading),
    ("Deleted servers and slots", configuration.deletion),
    ("Release of Nova", openings.nova_release),
    ("Servers on forced hosts", openings.forced_hosts),
    ("Access rules of the API", api_policy),
)
DEPLOYMENT = (
    ("Two-tier hosts", deployment.aggregate),
    ("Keys of aggregates", keys.of_aggregates),
    ("Pools of hosts", pools.of_hosts),
    ("Limit of allocation candidates", deployment.placement_results),
    ("CPU allocation ratio", deployment.cpu_ratio),
    ("CPUs of hosts", deployment.vcpus),
    ("Quota of metadata items", deployment.metadata_quota),
    ("Flavors", deployment.flavors),
    ("Flavor of jobs", deployment.job_flavor),
    ("Keys of flavors", keys.of_flavors),
    ("CPUs of flavors", deployment.cpu_policy),
    ("CPU weights of flavors", deployment.cpu_shares),
    ("Servers past the queue", openings.stand_alone_servers),
    ("Servers without a slot", isolation.other_servers),
)


class Checks(upgradecheck.UpgradeCommands):
    """All checks, in the order of the output.

    :param log: whether to log, as the options say.
    """

    def __init__(self, conf: cfg.ConfigOpts, log: bool):
        self._conf, self._log = conf, log
        self._facts: deployment.Facts | None = None
        self._upgrade_checks = (
            *((name, _configured(check)) for name, check in CONFIGURATION),
            ("Nova and Placement", Checks._cloud),
            *((name, _deployed(check)) for name, check in DEPLOYMENT),
            ("Unified limits", Checks._unified_limits),
        )

    def check(self) -> int:
        """Run the checks; returns the exit code."""
        try:
            if self._log:
                config.start_logging(self._conf)
        except config.ConfigError as error:
            print(f"nova-twotier-status: {error}", file=sys.stderr)
            return 255
        return super().check()

    def _cloud(self) -> Result:
        """Ask the cloud, once for all checks."""
        try:
            placement = placement_for(self._conf)
            session, options = session_for(self._conf, "nova")
            with ThreadPoolExecutor(AT_ONCE) as readers:
                nova = Nova(session, **options)
                self._facts = facts.gather(placement, nova, Lister(readers))
        except (config.ConfigError, CloudError, PlacementError, facts.TooOld) as error:
            return failure(" ".join(str(error).split()))
        return success()

    def _unified_limits(self) -> Result:
        """Check the registered limits in Keystone if Nova takes its quotas from there."""
        if self._conf.quota.driver != configuration.UNIFIED_LIMITS:
            return success()
        if self._facts is None:
            return warning("not checked: see Nova and Placement")
        try:
            registered = unified_limits.registered(*session_for(self._conf, "nova"))
        except (config.ConfigError, CloudError) as error:
            return warning(f"not checked: {' '.join(str(error).split())}")
        flavors = self._facts.two_tier_flavors.values()
        return limits.registered_limits(self._conf, registered, flavors)


def _configured(check):
    def run(checks: Checks) -> Result:
        return _result(check, checks._conf)

    return run


def _deployed(check):
    def run(checks: Checks) -> Result:
        if checks._facts is None:
            return warning("not checked: see Nova and Placement")
        return _result(check, checks._conf, checks._facts)

    return run


def _result(check, *args) -> Result:
    try:
        return check(*args)
    except cfg.ConfigFileValueError as error:  # raised only when the option is read
        return failure(config.plain(error))


def main(args: list[str] | None = None) -> int:
    """Run the checks; exit code 0 without findings, 1 warning, 2 failure, 255 could not run."""
    conf = cfg.ConfigOpts()
    logging.register_options(conf)
    agent.register_opts(conf)
    cloud.register_opts(conf)
    nova_options.register_opts(conf)
    manager.register_opts(conf)
    scheduler.register_opts(conf)
    files = [path for project in PROJECTS for path in cfg.find_config_files(project=project)]
    given, others = arguments.common_first(sys.argv[1:] if args is None else args)
    try:
        return upgradecheck.main(
            conf,
            "nova-twotier",
            Checks(conf, arguments.asks_for_log(given)),
            [*given, *others],
            default_config_files=files,
        )
    except SystemExit as exit_:
        if exit_.code != 1:
            raise
        # oslo.config has said what is wrong in a file; 1 would mean a warning.
        return 255
    except cfg.ConfigFilesNotFoundError as error:
        message = f"no such configuration file: {', '.join(error.config_files)}"
    except (cfg.Error, ValueError) as error:
        message = config.plain(error)
    print(f"nova-twotier-status: {message}", file=sys.stderr)
    return 255


if __name__ == "__main__":
    sys.exit(main())
