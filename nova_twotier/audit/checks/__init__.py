"""The checks of `nova-twotier-status upgrade check`: functions that return a result."""
