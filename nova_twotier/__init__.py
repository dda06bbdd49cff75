"""Two-tier scheduling of parallel jobs for OpenStack Nova."""
