"""`policy list`: what can be given to --policy."""

from nova_twotier.sim.cli.command import Table


class PolicyList(Table):
    """List the policies, each with a line on what it does"""

    def take_action(self, parsed_args):
        from nova_twotier.core import policies
        from nova_twotier.sim import variants

        rows = [(name, policy.summary) for name, policy in sorted(policies.POLICIES.items())]
        rows += [
            (name, f"Only in the simulator: {policy.summary}")
            for name, policy in sorted(variants.VARIANTS.items())
        ]
        return ("name", "description"), rows
