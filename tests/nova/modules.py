"""Which of Nova's functional tests: those that schedule servers, and those that move them."""

import pkgutil

ROOT = "nova.tests.functional"

#: What `make test` runs: of each kind some.
PART = (
    "compute.test_live_migration",
    "libvirt.test_live_migration",
    "test_cold_migrate",
    "test_scheduler.MultiCellSchedulerTestCase",
    "test_server_group.ServerGroupTestV21.test_boot_servers_with_affinity",
    "test_server_group.ServerGroupTestV21.test_boot_servers_with_affinity_overquota",
    "test_server_group.ServerGroupTestV21.test_boot_servers_with_anti_affinity",
    "test_server_group.ServerGroupTestV21.test_migrate_with_anti_affinity",
    "test_server_group.ServerGroupTestV21.test_rebuild_with_anti_affinity",
    "test_server_group.ServerGroupSoftAntiAffinityConfTest",
    "test_servers.ServerMovingTests.test_evacuate_host_specified_but_not_forced",
    "test_servers.ServerMovingTests.test_shelve_offload_unshelve_diff_host",
    "test_servers.ServerMovingTests.test_shelve_unshelve",
    "test_servers.ServersTest.test_create_and_rebuild_server",
    "test_servers.ServersTest.test_create_multiple_servers",
    "test_servers.ServersTest.test_create_server_with_error",
)

FULL = (
    "test_server_group",
    "test_aggregates",
    "test_cold_migrate",
    "test_scheduler",
    "wsgi.test_servers",
    "compute.test_live_migration",
    "test_servers",
    "test_availability_zones",
    "test_boot_from_volume",
    "test_cross_az_attach",
    "test_cross_cell_migrate",
    "test_flavor_extraspecs",
    "test_images",
    "test_instance_actions",
    "test_json_filter",
    "test_multiattach",
    "test_routed_networks",
    "test_server_rescue",
    "test_servers_provider_tree",
    "test_servers_resource_request",
    "test_unified_limits",
    "compute.test_host_api",
    "compute.test_init_host",
    "compute.test_resource_tracker",
    "libvirt.test_evacuate",
    "libvirt.test_live_migration",
    "libvirt.test_numa_live_migration",
    "libvirt.test_numa_servers",
    "libvirt.test_pci_in_placement",
    "libvirt.test_vgpu",
    "regressions",
)


def expand(names):
    """Full names for unittest's loader of modules, classes and tests below `ROOT`.

    :returns: the names, packages resolved into modules; and those that this Nova does not have.
    """
    found, missing = [], []
    for name in names:
        full = f"{ROOT}.{name}"
        try:
            item = pkgutil.resolve_name(full)
        except AttributeError:
            missing.append(name)
            continue
        if hasattr(item, "__path__"):
            modules = (each.name for each in pkgutil.iter_modules(item.__path__, f"{full}."))
            found.extend(each for each in modules if ".test_" in each.removeprefix(full))
        else:
            found.append(full)
    return found, missing
