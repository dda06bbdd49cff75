"""Options of the node agent."""

from oslo_config import cfg, types

from nova_twotier.conf import metrics
from nova_twotier.conf.numbers import FloatOpt
from nova_twotier.core.slots import THRESHOLD

GROUP = cfg.OptGroup("agent", title="Node agent")

OPTS = [
    cfg.StrOpt(
        "libvirt_uri",
        default="qemu:///system",
        help="The libvirt that runs the VMs of this host, as nova-compute's "
        "``[libvirt]connection_uri``.",
    ),
    cfg.StrOpt(
        "host",
        help="""
The name of this host's own resource provider in Placement, which Nova calls its hypervisor
hostname. By default the name that libvirt gives, as nova-compute does.
""",
    ),
    cfg.ListOpt(
        "slot_cpus",
        item_type=types.Range(min=0),
        default=[],
        help="""
The host CPUs of the slots, in order: of n CPUs and L slots, the first n/L belong to slot 0, and so
on. VMs are pinned to the CPUs of their slot.

Name the threads of a core one after the other, so that they belong to one slot. Give nova-compute
the same CPUs as ``[compute]cpu_shared_set``. Leave some CPUs to the host: emulator threads of VMs
are put there. Empty: VMs are not pinned, and only have their weights.

Example: 2-15
Example: 1,17,2,18,3,19
""",
    ),
    cfg.ListOpt(
        "emulator_cpus",
        item_type=types.Range(min=0),
        default=[],
        help="""
The host CPUs of emulator threads of VMs, which answer libvirt's requests. By default all those that
are not in ``slot_cpus``.

On the CPU of a busy slot, the emulator of a background VM gets no CPU time: Nova's operations on it
take minutes.

Example: 0-1
""",
    ),
    cfg.IntOpt(
        "foreground_weight",
        default=10000,
        min=2,
        max=10000,
        help="CPU weight of a foreground VM: cgroup v2 ``cpu.weight``, cgroup v1 ``cpu.shares``.",
    ),
    cfg.IntOpt(
        "background_weight",
        default=100,
        min=1,
        max=10000,
        help="""
CPU weight of a background VM. The smallest that cgroup v1 knows is 2.

With 100, a background VM takes about 1 % of the CPU of a foreground VM that uses all it gets. With
1, as in the papers, it takes next to nothing. The agent raises it while Nova does something to the
VM, but notices that only after ``poll_interval``.
""",
    ),
    cfg.BoolOpt(
        "background_idle",
        default=False,
        help="""
Background VMs get only CPU time that no other VM wants: the agent sets ``cpu.idle`` of their
control groups. It must run as root, and see QEMU's processes. Leave emulator threads CPUs of their
own (``slot_cpus``, ``emulator_cpus``).

``background_weight`` then holds only from the start of a VM until the agent sees it. The kernel
must have ``cpu.idle`` (Linux 5.15 and later). The scheduling policy of threads (SCHED_IDLE) is left
alone: it ranks threads within the control group that libvirt makes for each virtual CPU, and so
changes nothing between VMs.
""",
    ),
    FloatOpt(
        "threshold",
        default=THRESHOLD,
        min=0,
        max=1,
        help="CPU utilisation (0 to 1) of a foreground VM at and above which its slot takes no "
        "background VM. Set it to the value of ``[manager]threshold``.",
    ),
    FloatOpt(
        "sample_interval",
        default=2.0,
        min=0,
        max=60,
        help="""
Seconds between two samples of the CPU time of each VM, at least ``poll_interval``, since the agent
samples after a poll. 0: nothing is measured, and the CPU utilisation of VMs is what their owners
declared.
""",
    ),
    FloatOpt(
        "window",
        default=10.0,
        min=0.1,
        help="Seconds over which the utilisation of a VM is averaged. Shorter phases of a program "
        "neither close nor open its slot.",
    ),
    cfg.IntOpt(
        "close_samples",
        default=3,
        min=1,
        help="Number of consecutive samples of ``threshold`` or more after which a slot closes to "
        "the background.",
    ),
    FloatOpt(
        "open_threshold",
        default=0.9,
        min=0,
        max=1,
        help="CPU utilisation (0 to 1) of a foreground VM below which its slot opens again; not "
        "above ``threshold``.",
    ),
    cfg.IntOpt(
        "open_samples",
        default=10,
        min=1,
        help="Number of consecutive samples below ``open_threshold`` after which a slot opens, and "
        "after which a measurement that differs from the CPU points in Placement replaces them.",
    ),
    cfg.IntOpt(
        "tolerance",
        default=20,
        min=1,
        max=100,
        help="CPU points (percent of a slot) by which a measurement must differ from those in "
        "Placement to replace them, unless it closes or opens the slot.",
    ),
    *metrics.opts("what the agent measures"),
    FloatOpt(
        "poll_interval",
        default=1.0,
        min=0.1,
        max=60,
        help="Seconds between two polls of Placement: one request each, if nothing changed.",
    ),
    FloatOpt(
        "sweep_interval",
        default=30.0,
        min=1.0,
        help="Seconds between two checks of all VMs, for changes of which no event has told.",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]


def unmeasured(options) -> str:
    """Why Prometheus gets nothing where a port is set; empty if it gets something, or none is.

    :param options: group `[agent]`.
    """
    if options.metrics_port and not options.sample_interval:
        return (
            f"[agent]metrics_port is {options.metrics_port}, but nobody listens there: with "
            "sample_interval = 0 nothing is measured that could be shown; give it seconds, such "
            "as 2, or set metrics_port to 0"
        )
    return ""
