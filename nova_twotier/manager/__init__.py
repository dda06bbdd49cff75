"""The queue manager: observes Nova and Placement, asks the policy, carries its actions out."""
