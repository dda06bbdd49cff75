"""The queue manager's durable state: jobs, actions and events."""
