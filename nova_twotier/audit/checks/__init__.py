"""What `nova-twotier-status upgrade check` verifies: each check a function to a result."""
