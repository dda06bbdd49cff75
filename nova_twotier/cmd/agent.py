"""`nova-twotier-agent`: gives the VMs of a compute host the CPU priority of their tier."""

import signal
import sys

from oslo_log import log as logging

from nova_twotier import conf as config
from nova_twotier.agent.cgroups import CpuController, cpu_controller
from nova_twotier.agent.claims import ClaimReader
from nova_twotier.agent.exporter import Exporter
from nova_twotier.agent.guests import Cpus, HypervisorError
from nova_twotier.agent.priority import Rules
from nova_twotier.agent.reconciler import Reconciler
from nova_twotier.agent.telemetry import Telemetry
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.conf.agent import unmeasured
from nova_twotier.core.actions import Tier
from nova_twotier.core.meter import MeterRules
from nova_twotier.ledger.retry import PatientPlacement
from nova_twotier.prometheus.server import serve

LOG = logging.getLogger(__name__)

DESCRIPTION = (
    "The node agent: gives the VMs of this compute host the CPU weight and the CPUs of their tier, "
    "and measures what they use."
)
#: Seconds to wait for Placement, unless the configuration says otherwise.
PLACEMENT_TIMEOUT = 10


def main(args: list[str] | None = None) -> int:
    """Serve this host; SIGHUP has no effect: no option of the agent may change at run time."""
    # Whoever has all services reread their files sends it, also to one that has just been started.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        given = sys.argv[1:] if args is None else args
        conf = config.load(given, "nova-twotier-agent", DESCRIPTION)
        config.start_logging(conf)
        run(conf)
    except (config.ConfigError, HypervisorError, OSError) as error:
        print(f"nova-twotier-agent: {error}", file=sys.stderr)
        return 1
    return 0


def run(conf) -> None:
    """Serve this host until SIGTERM or SIGINT; the VMs keep the priority that they have.

    :raises ConfigError: if an option is wrong for this host.
    :raises HypervisorError: if libvirt does not answer at the start.
    """
    try:
        from nova_twotier.agent.libvirt_host import LibvirtHost
    except ImportError as error:
        raise config.ConfigError(f"{error}: pip install 'nova-twotier[agent]'") from error

    # A request that hangs keeps VMs that have just started waiting for their priority.
    conf.set_default("timeout", PLACEMENT_TIMEOUT, "placement")

    controller = cpu_controller()
    host = LibvirtHost(conf.agent.libvirt_uri, controller)
    rules = rules_for(conf.agent, host.cpus, controller)
    name = conf.agent.host or host.name
    placement = placement_for(conf, PatientPlacement)
    telemetry = None
    if conf.agent.sample_interval:
        telemetry = Telemetry(
            host, placement, meter_rules_for(conf.agent), conf.agent.sample_interval
        )
    reconciler = Reconciler(
        ClaimReader(placement, name), host, rules, conf.agent.sweep_interval, telemetry
    )
    host.listen(reconciler.changed)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: reconciler.stop())
    show(telemetry, name, conf.agent)
    LOG.info("The agent serves host %s with %s", name, rules)
    reconciler.run(conf.agent.poll_interval)
    host.close()
    LOG.info("The agent has stopped; all VMs keep the priority that they have")


def show(telemetry: Telemetry | None, name: str, options) -> None:
    """Show Prometheus what is measured, if a port is set for that.

    :param telemetry: None if nothing is measured.
    :param name: the host's.
    :param options: group `[agent]`.
    :raises ConfigError: if the port cannot be had.
    """
    if telemetry is None:
        # VMs get their priorities all the same: that must not end for want of metrics.
        if why := unmeasured(options):
            LOG.warning(why)
    elif options.metrics_port:
        serve(Exporter(telemetry, name), options.metrics_address, options.metrics_port, "agent")


def rules_for(options, host_cpus: Cpus, controller: CpuController) -> Rules:
    """The weights and CPU sets that group `[agent]` configures for this host.

    :param options: group `[agent]`.
    :param controller: the host's.
    :raises ConfigError: if the host has no such CPUs or no idle groups, or CPUs are named twice.
    """
    # Before ranges become lists: a typo such as 0-70000000000 would take all memory.
    for option, ranges in (
        ("slot_cpus", options.slot_cpus),
        ("emulator_cpus", options.emulator_cpus),
    ):
        missing = (cpu for cpus in ranges for cpu in cpus if cpu not in host_cpus)
        if (first := next(missing, None)) is not None:
            raise config.ConfigError(
                f"[agent]{option} names CPU {first}, which this host does not have online; "
                f"it has {', '.join(map(str, sorted(host_cpus)))}"
            )
    slot_cpus = [cpu for each in options.slot_cpus for cpu in each]
    emulator_cpus = {cpu for each in options.emulator_cpus for cpu in each}
    if len(set(slot_cpus)) < len(slot_cpus):
        raise config.ConfigError("[agent]slot_cpus names a CPU twice")
    weights = {
        Tier.FG: controller.allowed(options.foreground_weight),
        Tier.BG: controller.allowed(options.background_weight),
    }
    if weights[Tier.BG] >= weights[Tier.FG]:
        raise config.ConfigError(
            "[agent]background_weight must be less than [agent]foreground_weight; with cgroup "
            f"v{controller.version} they are {weights[Tier.BG]} and {weights[Tier.FG]}"
        )
    if shared := emulator_cpus & set(slot_cpus):
        LOG.warning(
            "[agent]emulator_cpus names CPU %s of a slot: Nova's operations on background VMs may "
            "take minutes",
            min(shared),
        )
    if slot_cpus and not emulator_cpus:
        emulator_cpus = host_cpus - set(slot_cpus)
        if not emulator_cpus:
            LOG.warning(
                "[agent]slot_cpus leaves no CPU to emulator threads: Nova's operations on "
                "background VMs may take minutes"
            )
    if options.background_idle and controller.lacks_idle():
        raise config.ConfigError(
            f"[agent]background_idle: this kernel has no cpu.idle below {controller.root} (Linux "
            "5.15 and later has); unset it, and choose [agent]background_weight"
        )
    return Rules(
        weights,
        tuple(slot_cpus),
        frozenset(emulator_cpus),
        options.threshold,
        options.background_idle,
    )


def meter_rules_for(options) -> MeterRules:
    """When a measurement counts, as group `[agent]` configures it.

    :raises ConfigError: if options contradict each other.
    """
    if options.open_threshold > options.threshold:
        raise config.ConfigError(
            f"[agent]open_threshold ({options.open_threshold}) must not be above [agent]threshold "
            f"({options.threshold}): slots would open and close all the time"
        )
    if options.window < options.sample_interval:
        raise config.ConfigError(
            f"[agent]window ({options.window}) must not be less than [agent]sample_interval "
            f"({options.sample_interval})"
        )
    return MeterRules(
        window=options.window,
        close_at=options.threshold,
        close_samples=options.close_samples,
        open_below=options.open_threshold,
        open_samples=options.open_samples,
        tolerance=options.tolerance,
    )


if __name__ == "__main__":
    sys.exit(main())
