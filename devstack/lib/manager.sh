#!/usr/bin/env bash
# The queue manager: its database and its process; and the user and the configuration that the REST
# API and the node agent have in common with it.

function twotier_make_directories {
    local directory
    for directory in "$NOVA_TWOTIER_CONF_DIR" "$NOVA_TWOTIER_STATE_PATH"; do
        sudo install -d -o "$STACK_USER" "$directory" \
            || die $LINENO "cannot make the directory $directory"
    done
}

# twotier_create_user: the role admin, because the manager sees and moves the VMs of all projects.
function twotier_create_user {
    create_service_user "$TWOTIER_USER" admin || die $LINENO "cannot make the user $TWOTIER_USER"
}

# twotier_configure: what the manager, the API and the agent read, but the image, which is not uploaded
# yet.
function twotier_configure {
    local section
    # It holds passwords.
    install -m 600 /dev/null "$NOVA_TWOTIER_CONF"
    iniset "$NOVA_TWOTIER_CONF" DEFAULT state_path "$NOVA_TWOTIER_STATE_PATH"
    iniset "$NOVA_TWOTIER_CONF" DEFAULT debug "$ENABLE_DEBUG_LOG_LEVEL"
    if is_service_enabled twotier-manager twotier-api; then
        iniset "$NOVA_TWOTIER_CONF" database connection \
            "$(database_connection_url "$TWOTIER_DATABASE")"
    fi
    for section in nova placement; do
        iniset "$NOVA_TWOTIER_CONF" "$section" auth_type password
        iniset "$NOVA_TWOTIER_CONF" "$section" auth_url "$KEYSTONE_SERVICE_URI"
        iniset "$NOVA_TWOTIER_CONF" "$section" username "$TWOTIER_USER"
        iniset "$NOVA_TWOTIER_CONF" "$section" password "$SERVICE_PASSWORD"
        iniset "$NOVA_TWOTIER_CONF" "$section" user_domain_name "$SERVICE_DOMAIN_NAME"
        iniset "$NOVA_TWOTIER_CONF" "$section" project_name "$SERVICE_PROJECT_NAME"
        iniset "$NOVA_TWOTIER_CONF" "$section" project_domain_name "$SERVICE_DOMAIN_NAME"
        iniset "$NOVA_TWOTIER_CONF" "$section" region_name "$REGION_NAME"
        if is_service_enabled tls-proxy; then
            iniset "$NOVA_TWOTIER_CONF" "$section" cafile "$SSL_BUNDLE_FILE"
        fi
    done
    iniset "$NOVA_TWOTIER_CONF" manager policy "$TWOTIER_POLICY"
    iniset "$NOVA_TWOTIER_CONF" manager flavor "$TWOTIER_FLAVOR"
    iniset "$NOVA_TWOTIER_CONF" manager network "$TWOTIER_NETWORK"
}

function twotier_configure_image {
    local image
    image=$(twotier_openstack image show "$TWOTIER_IMAGE" -f value -c id) \
        || die $LINENO "there is no image '$TWOTIER_IMAGE'; set TWOTIER_IMAGE in local.conf"
    iniset "$NOVA_TWOTIER_CONF" manager image "$image"
}

# twotier_create_database: an empty one, with the newest schema.
function twotier_create_database {
    recreate_database "$TWOTIER_DATABASE"
    "$(get_python_exec_prefix)/twotier-manage" --config-file "$NOVA_TWOTIER_CONF" db upgrade \
        || die $LINENO "cannot make the tables of the database $TWOTIER_DATABASE"
}

function twotier_start_manager {
    run_process twotier-manager \
        "$(get_python_exec_prefix)/twotier-manager --config-file $NOVA_TWOTIER_CONF"
}

function twotier_stop_manager {
    stop_process twotier-manager
}
