#!/usr/bin/env bash
# Brings Nova's configuration and policy to what a two-tier cloud needs, and back.

# twotier_ini_lines file: each option given in an ini file, as "section option value".
function twotier_ini_lines {
    awk '
        /^\[/ { section = $0; gsub(/[][]/, "", section); next }
        /^[^#;=[:space:]]+[[:space:]]*=/ {
            option = $0; sub(/[[:space:]]*=.*/, "", option)
            value = $0; sub(/^[^=]*=[[:space:]]*/, "", value)
            print section, option, value
        }
    ' "$1"
}

# What nova_twotier/conf/nova.conf says, the one place for it.
function twotier_recommended {
    twotier_ini_lines "$NOVA_TWOTIER_DIR/nova_twotier/conf/nova.conf"
}

# twotier_with_filters list: the comma list of filters, and those that two tiers need after it.
function twotier_with_filters {
    local filters=${1// /} section option value each
    while read -r section option value; do
        [[ $option == enabled_filters ]] || continue
        for each in ${value//,/ }; do
            [[ ,$filters, == *,$each,* ]] || filters=${filters:+$filters,}$each
        done
    done < <(twotier_recommended)
    echo "$filters"
}

# twotier_without_filters list: the comma list of filters, without this plugin's; as it is if it has
# none of them.
function twotier_without_filters {
    local filters=,${1// /}, path name
    for path in "$NOVA_TWOTIER_DIR"/filters/*.py; do
        while read -r name; do
            filters=${filters//,$name,/,}
        done < <(sed -n 's/^class \([A-Za-z]*Filter\)(.*/\1/p' "$path")
    done
    if [[ $filters == ,${1// /}, ]]; then
        echo "$1"
    else
        filters=${filters#,}
        echo "${filters%,}"
    fi
}

# twotier_configure_nova: merge what is recommended into $NOVA_CONF; safe to repeat.
function twotier_configure_nova {
    local section option value
    # It writes to the same file, in the background.
    async_wait configure_neutron_nova
    _twotier_remember
    while read -r section option value; do
        case $option in
            available_filters)
                _twotier_has "$section" "$option" "$value" \
                    || iniadd "$NOVA_CONF" "$section" "$option" "$value"
                ;;
            enabled_filters)
                value=$(twotier_with_filters "$(iniget "$NOVA_CONF" "$section" "$option")")
                iniset "$NOVA_CONF" "$section" "$option" "$value"
                ;;
            cpu_allocation_ratio)
                iniset "$NOVA_CONF" "$section" "$option" "$TWOTIER_TIERS.0"
                ;;
            *)
                iniset "$NOVA_CONF" "$section" "$option" "$value"
                ;;
        esac
    done < <(twotier_recommended)
}

# twotier_restore_nova: give the options of $NOVA_CONF the values back that they had before.
function twotier_restore_nova {
    local section option value before
    before=$(_twotier_before)
    [[ -f $NOVA_CONF && -f $before ]] || return 0
    while read -r section option value; do
        inidelete "$NOVA_CONF" "$section" "$option"
    done < <(twotier_recommended)
    # Each goes to the top of its section: the last one first.
    while read -r section option value; do
        iniadd_literal "$NOVA_CONF" "$section" "$option" "$value"
    done < <(tac "$before")
    rm -f "$before"
}

# twotier_configure_nova_policy: nobody forces a server onto a host, past the scheduler's filters.
function twotier_configure_nova_policy {
    install -D -m 644 "$NOVA_TWOTIER_DIR/nova_twotier/conf/nova-policy.yaml" "$(_twotier_policy)"
}

function twotier_restore_nova_policy {
    local policy
    policy=$(_twotier_policy)
    [[ -f $policy ]] || return 0
    rm -f "$policy"
    rmdir --ignore-fail-on-non-empty "$(dirname "$policy")"
}

# Nova reads every file of this directory besides its policy.yaml.
function _twotier_policy {
    echo "$(dirname "$NOVA_CONF")/policy.d/nova-twotier.yaml"
}

function _twotier_before {
    echo "$NOVA_TWOTIER_CONF_DIR/nova.conf.before"
}

# Note the values of $NOVA_CONF that are about to change, unless they are ours already. Of lib/nova's
# filters, those are left out that have come from NOVA_FILTERS.
function _twotier_remember {
    _twotier_has filter_scheduler available_filters nova_twotier.filters.all_filters && return
    local options
    options=$(twotier_recommended | cut -d " " -f 1,2 | sort -u)
    twotier_ini_lines "$NOVA_CONF" | while read -r section option value; do
        if grep -qxF "$section $option" <<< "$options"; then
            [[ $option != enabled_filters ]] || value=$(twotier_without_filters "$value")
            echo "$section $option $value"
        fi
    done > "$(_twotier_before)"
}

# _twotier_has section option value: whether $NOVA_CONF gives the option this value, too.
function _twotier_has {
    [[ " $(iniget_multiline "$NOVA_CONF" "$1" "$2") " == *" $3 "* ]]
}
