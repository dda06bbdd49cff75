"""Options of the Keystone trusts with which jobs run in their owners' projects."""

from oslo_config import cfg

GROUP = cfg.OptGroup("trust", title="Trusts of Keystone")

OPTS = [
    cfg.ListOpt(
        "roles",
        default=["member"],
        help="""
Roles in the owner's project that the owner of a job delegates to the queue manager until the job
has ended: those that Nova, Glance and Neutron require to boot servers. A user without all of them
cannot submit jobs.

If ``[api]auth_strategy`` is ``keystone``, the API makes a trust for each job, with the user of
group ``[nova]`` as the trustee. Without Keystone, jobs run in the project of that user.

Example: member
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
