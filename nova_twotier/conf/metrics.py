"""Options of the processes that export their own Prometheus metrics."""

from oslo_config import cfg


def opts(shown: str) -> list[cfg.Opt]:
    """
    :param shown: what Prometheus reads of the process, in the words of an option's help.
    """
    return [
        cfg.PortOpt(
            "metrics_port",
            default=0,
            help=f"TCP port on which Prometheus reads {shown}. 0: none.",
        ),
        cfg.HostAddressOpt(
            "metrics_address",
            default="127.0.0.1",
            help="Address on which Prometheus reads. There is no access control: choose one of "
            "the management network.",
        ),
    ]
