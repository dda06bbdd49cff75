"""The command-line client, a plugin of OpenStackClient, and its Python calls."""
