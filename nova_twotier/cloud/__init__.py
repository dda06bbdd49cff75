"""The outer world: Nova, Neutron and Keystone, as the manager, the API and the audit use them."""
