#!/usr/bin/env bash
# What an operator makes through OpenStack's APIs: the flavor, the aggregate and its hosts.

function twotier_openstack {
    openstack --os-cloud "$TWOTIER_OS_CLOUD" "$@"
}

function twotier_create_flavor {
    if ! twotier_openstack flavor show "$TWOTIER_FLAVOR" > /dev/null 2>&1; then
        twotier_openstack flavor create --vcpus 1 --ram "$TWOTIER_FLAVOR_RAM" \
            --disk "$TWOTIER_FLAVOR_DISK" "$TWOTIER_FLAVOR" > /dev/null \
            || die $LINENO "cannot make the flavor $TWOTIER_FLAVOR"
    fi
    # The same for each tier of a job: the scheduler's filters say which one a VM gets. The queue
    # manager alone boots it, so that no server holds a slot past the queue. Without any shares a
    # live migration would drop those that a VM has.
    twotier_openstack flavor set --property resources:CUSTOM_TWOTIER_SLOT=1 \
        --property quota:cpu_shares=1024 --property twotier:jobs_only=true "$TWOTIER_FLAVOR" \
        || die $LINENO "cannot give the flavor $TWOTIER_FLAVOR a slot"
}

function twotier_create_aggregate {
    if ! twotier_openstack aggregate show "$TWOTIER_AGGREGATE" > /dev/null 2>&1; then
        twotier_openstack aggregate create "$TWOTIER_AGGREGATE" > /dev/null \
            || die $LINENO "cannot make the aggregate $TWOTIER_AGGREGATE"
    fi
    twotier_openstack aggregate set --property "twotier:slots=$TWOTIER_SLOTS" \
        --property "twotier:tiers=$TWOTIER_TIERS" "$TWOTIER_AGGREGATE" \
        || die $LINENO "cannot give the aggregate $TWOTIER_AGGREGATE its slots and tiers"
}

# twotier_add_hosts: all compute hosts that Nova has mapped to a cell join the aggregate.
function twotier_add_hosts {
    local hosts members host
    hosts=$(twotier_openstack compute service list --service nova-compute -f value -c Host) \
        || die $LINENO "cannot list the compute hosts"
    members=$(_twotier_members) \
        || die $LINENO "cannot read the aggregate $TWOTIER_AGGREGATE; did the phase extra fail?"
    for host in $hosts; do
        [[ " $members " == *" $host "* ]] && continue
        twotier_openstack aggregate add host "$TWOTIER_AGGREGATE" "$host" > /dev/null \
            || die $LINENO "cannot add the host $host to the aggregate $TWOTIER_AGGREGATE"
    done
}

# twotier_delete_objects: the flavor, the aggregate and the service user, as far as they are there.
function twotier_delete_objects {
    local members host
    if ! twotier_openstack aggregate list > /dev/null 2>&1; then
        echo "The cloud is down: what nova-twotier made in it goes with DevStack's databases," \
            "which clean.sh drops"
        return 0
    fi
    if members=$(_twotier_members 2> /dev/null); then
        for host in $members; do
            twotier_openstack aggregate remove host "$TWOTIER_AGGREGATE" "$host" > /dev/null \
                || warn $LINENO "the host $host is still in the aggregate $TWOTIER_AGGREGATE"
        done
        twotier_openstack aggregate delete "$TWOTIER_AGGREGATE" \
            || warn $LINENO "the aggregate $TWOTIER_AGGREGATE is still there"
    fi
    if twotier_openstack flavor show "$TWOTIER_FLAVOR" > /dev/null 2>&1; then
        twotier_openstack flavor delete "$TWOTIER_FLAVOR" \
            || warn $LINENO "the flavor $TWOTIER_FLAVOR is still there"
    fi
    if twotier_openstack user show --domain "$SERVICE_DOMAIN_NAME" "$TWOTIER_USER" \
        > /dev/null 2>&1; then
        twotier_openstack user delete --domain "$SERVICE_DOMAIN_NAME" "$TWOTIER_USER" \
            || warn $LINENO "the user $TWOTIER_USER is still there"
    fi
}

# The hosts of the aggregate; the client prints a list as Python does.
function _twotier_members {
    local hosts
    hosts=$(twotier_openstack aggregate show "$TWOTIER_AGGREGATE" -f value -c hosts) || return
    tr -d "[]'" <<< "${hosts//,/ }" | xargs
}
