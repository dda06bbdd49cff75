"""`policy list`: what can be given to --policy."""

import inspect

from nova_twotier.sim.cli.command import Table


class PolicyList(Table):
    """List the policies, each with a line on what it does"""

    def take_action(self, parsed_args):
        from nova_twotier.core import policies
        from nova_twotier.sim import variants

        rows = [(name, _line(policy)) for name, policy in sorted(policies.POLICIES.items())]
        rows += [
            (name, f"Only in the simulator: {policy.summary}")
            for name, policy in sorted(variants.VARIANTS.items())
        ]
        return ("name", "description"), rows


def _line(policy: type) -> str:
    """The first line of its module's docstring, which names the policy and its paper."""
    return (inspect.getdoc(inspect.getmodule(policy)) or "").split("\n")[0]
