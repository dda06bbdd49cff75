#!/usr/bin/env bash
# DevStack's plugin of nova-twotier, sourced as "plugin.sh <mode> [phase]"; see doc/devstack.md.
# What a node does follows from its services: nova.conf wherever there is a Nova service, the
# cloud's flavor and aggregate beside n-api, the database beside twotier-manager, the node agent beside
# n-cpu.

# shellcheck source=devstack/lib/cloud.sh
source "$NOVA_TWOTIER_DIR/devstack/lib/cloud.sh"
# shellcheck source=devstack/lib/manager.sh
source "$NOVA_TWOTIER_DIR/devstack/lib/manager.sh"
# shellcheck source=devstack/lib/api.sh
source "$NOVA_TWOTIER_DIR/devstack/lib/api.sh"
# shellcheck source=devstack/lib/agent.sh
source "$NOVA_TWOTIER_DIR/devstack/lib/agent.sh"

function _twotier_install {
    echo_summary "Installing nova-twotier"
    local extras=manager
    if is_service_enabled twotier-api; then
        extras=api
    fi
    if twotier_has_agent; then
        extras+=,agent
    fi
    setup_develop "$NOVA_TWOTIER_DIR" "$extras"
}

# Keystone runs, Nova does not yet.
function _twotier_post_config {
    echo_summary "Configuring nova-twotier"
    twotier_make_directories
    if is_service_enabled nova; then
        twotier_configure_nova
        twotier_configure_nova_policy
    fi
    if is_service_enabled twotier-manager twotier-api; then
        twotier_create_user
    fi
    if is_service_enabled twotier-manager twotier-api || twotier_has_agent; then
        twotier_configure
    fi
    if is_service_enabled twotier-manager; then
        twotier_create_database
    fi
    if is_service_enabled twotier-api; then
        twotier_configure_api
        twotier_register_api
    fi
    if twotier_has_agent; then
        twotier_configure_agent
    fi
}

# Nova runs, and the images are there.
function _twotier_extra {
    if is_service_enabled n-api; then
        echo_summary "Making the flavor and the aggregate of nova-twotier"
        twotier_create_flavor
        twotier_create_aggregate
    fi
    if is_service_enabled twotier-manager; then
        echo_summary "Starting the queue manager of nova-twotier"
        twotier_configure_image
        twotier_start_manager
    fi
    if is_service_enabled twotier-api; then
        echo_summary "Starting the API of nova-twotier"
        twotier_start_api
    fi
    if twotier_has_agent; then
        echo_summary "Starting the node agent of nova-twotier"
        twotier_start_agent
    fi
}

# Only now has DevStack mapped the compute hosts to their cell.
function _twotier_test_config {
    if is_service_enabled n-api; then
        echo_summary "Adding the compute hosts to the aggregate of nova-twotier"
        twotier_add_hosts
    fi
}

function _twotier_unstack {
    if twotier_has_agent; then
        twotier_stop_agent
    fi
    if is_service_enabled twotier-api; then
        twotier_stop_api
    fi
    if is_service_enabled twotier-manager; then
        twotier_stop_manager
    fi
}

function _twotier_clean {
    if is_service_enabled twotier-api; then
        twotier_unregister_api
        if is_service_enabled tls-proxy; then
            twotier_remove_proxy
        fi
    fi
    if is_service_enabled n-api; then
        twotier_delete_objects
    fi
    twotier_restore_nova
    twotier_restore_nova_policy
    sudo rm -rf "$NOVA_TWOTIER_CONF_DIR" "$NOVA_TWOTIER_STATE_PATH"
}

case "$1 ${2:-}" in
    "stack install") _twotier_install ;;
    "stack post-config") _twotier_post_config ;;
    "stack extra") _twotier_extra ;;
    "stack test-config") _twotier_test_config ;;
    "unstack "*) _twotier_unstack ;;
    "clean "*) _twotier_clean ;;
esac
