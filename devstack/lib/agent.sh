#!/usr/bin/env bash
# The node agent, on compute hosts with libvirt: its part of the configuration, and its process.

# twotier_has_agent: whether this node runs it.
function twotier_has_agent {
    is_service_enabled twotier-agent && is_service_enabled n-cpu
}

# twotier_configure_agent: its section, in the file that twotier_configure makes.
function twotier_configure_agent {
    if [[ -n $TWOTIER_SLOT_CPUS ]]; then
        iniset "$NOVA_TWOTIER_CONF" agent slot_cpus "$TWOTIER_SLOT_CPUS"
    fi
    if [[ -n $TWOTIER_EMULATOR_CPUS ]]; then
        iniset "$NOVA_TWOTIER_CONF" agent emulator_cpus "$TWOTIER_EMULATOR_CPUS"
    fi
}

# twotier_start_agent: as root, because it writes the control groups of VMs.
function twotier_start_agent {
    run_process twotier-agent \
        "$(get_python_exec_prefix)/nova-twotier-agent --config-file $NOVA_TWOTIER_CONF" "" root
}

# VMs keep the priority that they have.
function twotier_stop_agent {
    stop_process twotier-agent
}
