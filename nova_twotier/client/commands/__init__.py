"""The commands of `openstack twotier`, one module for each noun."""
