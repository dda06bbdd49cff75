"""The commands of `openstack twotier`, one module a noun."""
