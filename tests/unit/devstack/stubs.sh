#!/usr/bin/env bash
# Stand-ins for DevStack's functions and variables: calls are recorded in $CALLS, ini files are
# really written, and the programs on the PATH play a small cloud.

# shellcheck disable=SC2034  # the plugin reads them
DEST=$SANDBOX/dest
DATA_DIR=$SANDBOX/data
NOVA_CONF=$SANDBOX/etc/nova/nova.conf
NOVA_TWOTIER_DIR=$REPOSITORY
NOVA_TWOTIER_CONF_DIR=$SANDBOX/etc/nova-twotier
STACK_USER=$(id -un)
VIRT_DRIVER=${VIRT_DRIVER:-fake}
DEFAULT_IMAGE_NAME=cirros
DATABASE_TYPE=${DATABASE_TYPE:-mysql}
DATABASE_USER=root
DATABASE_PASSWORD=database-secret
DATABASE_HOST=127.0.0.1
SERVICE_PASSWORD=service-secret
SERVICE_HOST=${SERVICE_HOST:-127.0.0.1}
SERVICE_TIMEOUT=60
SERVICE_PROJECT_NAME=service
SERVICE_DOMAIN_NAME=Default
KEYSTONE_SERVICE_URI=http://127.0.0.1/identity
REGION_NAME=RegionOne
SSL_BUNDLE_FILE=$DATA_DIR/ca-bundle.pem
ENABLE_DEBUG_LOG_LEVEL=True
ENABLED_SERVICES=${ENABLED_SERVICES:-key,mysql,n-api,n-sch,n-cpu,g-api}
DISABLED_SERVICES=${DISABLED_SERVICES:-}

function record {
    echo "$*" >> "$CALLS"
}

function die {
    echo "ERROR line $1: ${*:2}" >&2
    exit 1
}

function warn {
    echo "WARNING line $1: ${*:2}" >&2
}

function echo_summary {
    echo "$*"
}

function sudo {
    "$@"
}

function define_plugin {
    record define_plugin "$@"
}

function enable_service {
    local each
    for each in "$@"; do
        [[ ,$DISABLED_SERVICES, == *,$each,* ]] || ENABLED_SERVICES+=,$each
    done
}

function is_service_enabled {
    local each
    for each in "$@"; do
        [[ $each == nova && $ENABLED_SERVICES == *n-* ]] && return
        [[ ,$ENABLED_SERVICES, == *,$each,* ]] && return
    done
    return 1
}

function async_wait {
    record async_wait "$@"
}

function setup_develop {
    record setup_develop "$@"
}

function get_python_exec_prefix {
    echo "$SANDBOX/bin"
}

function run_process {
    record run_process "$@"
}

function stop_process {
    record stop_process "$@"
}

function create_service_user {
    openstack --os-cloud devstack-admin user create "$1" "$2"
}

function configure_keystone_authtoken_middleware {
    iniset "$1" keystone_authtoken auth_type password
    iniset "$1" keystone_authtoken interface public
    iniset "$1" keystone_authtoken auth_url "$KEYSTONE_SERVICE_URI"
    iniset "$1" keystone_authtoken username "$2"
    iniset "$1" keystone_authtoken password "$SERVICE_PASSWORD"
    iniset "$1" keystone_authtoken user_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$1" keystone_authtoken project_name "$SERVICE_PROJECT_NAME"
    iniset "$1" keystone_authtoken project_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$1" keystone_authtoken cafile "$SSL_BUNDLE_FILE"
    iniset "$1" keystone_authtoken memcached_servers localhost:11211
}

# Like DevStack's, these two print an id, or fail to and succeed.
function get_or_create_service {
    # shellcheck disable=SC2005
    echo "$(openstack --os-cloud devstack-admin service create "$1" "$2")"
}

function get_or_create_endpoint {
    # shellcheck disable=SC2005
    echo "$(openstack --os-cloud devstack-admin endpoint create "$@")"
}

function ipv6_unquote {
    echo "$1" | tr -d "[]"
}

function start_tls_proxy {
    record start_tls_proxy "$@"
    touch "$(apache_site_config_for "$1-tls-proxy")"
}

function disable_apache_site {
    record disable_apache_site "$@"
}

function apache_site_config_for {
    echo "$SANDBOX/etc/$1.conf"
}

function recreate_database {
    mysql "CREATE $1"
}

function database_connection_url {
    echo "mysql+pymysql://$DATABASE_USER:$DATABASE_PASSWORD@$DATABASE_HOST/$1?charset=utf8"
}

# ini_lines file section option [value...]: the file with these values, and no others, of the option.
function ini_lines {
    touch "$1"
    awk -v section="[$2]" -v option="$3" -v values="$(printf '%s\n' "${@:4}")" '
        function write(count, each, i) {
            count = split(values, each, "\n")
            for (i = 1; i <= count; i++) print option " = " each[i]
            values = ""
        }
        /^\[/ { inside = ($0 == section) }
        inside && $1 == option { next }
        { print }
        $0 == section { write() }
        END { if (values != "") { print section; write() } }
    ' "$1" > "$1.new"
    # Not mv: the file keeps its owner and mode, as in DevStack.
    cat "$1.new" > "$1"
    rm "$1.new"
}

function ini_values {
    awk -v section="[$2]" -v option="$3" '
        /^\[/ { inside = ($0 == section) }
        inside && $1 == option { sub(/^[^=]*= */, ""); print }
    ' "$1"
}

function iniset {
    ini_lines "$1" "$2" "$3" "$4"
}

function inidelete {
    ini_lines "$1" "$2" "$3"
}

function iniget {
    local value
    read -r value < <(ini_values "$@") || true
    echo "$value"
}

function iniget_multiline {
    local values
    mapfile -t values < <(ini_values "$@")
    echo "${values[*]}"
}

function iniadd {
    local values
    mapfile -t values < <(ini_values "$1" "$2" "$3")
    ini_lines "$1" "$2" "$3" "${values[@]}" "${@:4}"
}

# As in DevStack, the line goes to the top of the section.
function iniadd_literal {
    sed -i "/^\[$2\]/ a $3 = $4" "$1"
}
