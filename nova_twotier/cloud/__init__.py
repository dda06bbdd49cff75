"""Clients for Nova, Neutron and Keystone, used by the manager, the API and the audit."""
