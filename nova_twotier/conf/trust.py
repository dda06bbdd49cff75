"""Options of the trusts by which jobs run in their owners' projects."""

from oslo_config import cfg

GROUP = cfg.OptGroup("trust", title="Trusts of Keystone")

OPTS = [
    cfg.ListOpt(
        "roles",
        default=["member"],
        help="""
Roles that the owner of a job lends to the queue manager, in the owner's project and until the job
has ended: those that Nova, Glance and Neutron ask of who boots servers. Who submits a job needs all
of them.

The API makes a trust for each job if ``[api]auth_strategy`` is ``keystone``, for the user of group
``[nova]``. Without Keystone, jobs run in the project of that user.

Example: member
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
