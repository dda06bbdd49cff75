#!/usr/bin/env bash
# The REST API: its part of the configuration, its entry in Keystone's catalog, and its process.

# twotier_api_address: where the process listens, as "address port".
function twotier_api_address {
    if is_service_enabled tls-proxy; then
        # Only the proxy is to reach it.
        echo "127.0.0.1 $TWOTIER_API_PORT_INT"
    else
        echo "$(ipv6_unquote "$TWOTIER_API_HOST") $TWOTIER_API_PORT"
    fi
}

# twotier_api_url: what the catalog says.
function twotier_api_url {
    local protocol=http
    if is_service_enabled tls-proxy; then
        protocol=https
    fi
    echo "$protocol://$TWOTIER_API_HOST:$TWOTIER_API_PORT"
}

# twotier_configure_api: its sections, in the file that twotier_configure makes.
function twotier_configure_api {
    local address port
    read -r address port < <(twotier_api_address)
    iniset "$NOVA_TWOTIER_CONF" api auth_strategy keystone
    iniset "$NOVA_TWOTIER_CONF" api listen "$address"
    iniset "$NOVA_TWOTIER_CONF" api port "$port"
    configure_keystone_authtoken_middleware "$NOVA_TWOTIER_CONF" "$TWOTIER_USER"
    if is_service_enabled tls-proxy; then
        # The links in its answers are https, as the proxy says in its headers.
        iniset "$NOVA_TWOTIER_CONF" oslo_middleware enable_proxy_headers_parsing True
    fi
}

# twotier_register_api: DevStack's functions print an id, and nothing if they have failed.
function twotier_register_api {
    [[ -n $(get_or_create_service nova-twotier twotier "Two-tier scheduling of jobs") ]] \
        || die $LINENO "cannot make the service nova-twotier in Keystone"
    [[ -n $(get_or_create_endpoint twotier "$REGION_NAME" "$(twotier_api_url)") ]] \
        || die $LINENO "cannot make the endpoint of the service nova-twotier in Keystone"
}

function twotier_start_api {
    local address port
    read -r address port < <(twotier_api_address)
    run_process twotier-api \
        "$(get_python_exec_prefix)/twotier-api --config-file $NOVA_TWOTIER_CONF"
    if is_service_enabled tls-proxy; then
        start_tls_proxy twotier-api "*" "$TWOTIER_API_PORT" "$address" "$port"
    fi
    curl --silent --fail --output /dev/null --noproxy "*" --insecure --globoff \
        --retry "$SERVICE_TIMEOUT" --retry-delay 1 --retry-connrefused \
        "$(twotier_api_url)/healthcheck" \
        || die $LINENO "twotier-api does not answer; see journalctl -u devstack@twotier-api"
}

function twotier_stop_api {
    stop_process twotier-api
}

# twotier_unregister_api: Keystone deletes the endpoint with the service.
function twotier_unregister_api {
    if twotier_openstack service show twotier > /dev/null 2>&1; then
        twotier_openstack service delete twotier \
            || warn $LINENO "the service nova-twotier is still in Keystone"
    fi
}

# twotier_remove_proxy: DevStack stops its web server, and keeps the sites.
function twotier_remove_proxy {
    disable_apache_site twotier-api-tls-proxy
    sudo rm -f "$(apache_site_config_for twotier-api-tls-proxy)"
}
