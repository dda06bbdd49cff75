"""The queue manager: polls Nova and Placement, asks the policy, carries out its actions."""
