"""A libvirtd of a cloud's or a test's own, whose guests are emulated (TCG).

It runs in namespaces with directories, a host name and processes of its own: it neither meets nor
changes a libvirt that the machine has already, and its guests end with it.
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import uuid

from nova_twotier.tools.fakecloud.errors import FakeCloudError

#: Directories of libvirtd that are replaced by empty ones.
_DIRECTORIES = (
    "/etc/libvirt",
    "/run/libvirt",
    "/var/cache/libvirt",
    "/var/lib/libvirt",
    "/var/log/libvirt",
    # Otherwise the machine's systemd would move our guests, or what has their process ids there.
    "/run/dbus",
)
_PROGRAMS = ("libvirtd", "qemu-system-x86_64", "qemu-img", "unshare")
#: Where the CPU controller of cgroup v1 or v2 is mounted.
_CPU_CONTROLLERS = ("/sys/fs/cgroup/cpu/cgroup.procs", "/sys/fs/cgroup/cgroup.controllers")
_START = """
set -e
hostname {host}
# libvirt asks the resolver for the whole name of the host.
mount --bind {directory}/hosts /etc/hosts
for each in {directories}; do
    mkdir -p $each
    mount -t tmpfs tmpfs $each
done
cp {directory}/qemu.conf /etc/libvirt
(while ! test -S {socket}; do sleep 0.1; done; touch {ready}) &
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/dbus/none
# The shell stays: as the first process of its namespace it has to reap the guests that have ended.
{libvirtd} --config {directory}/libvirtd.conf --pid-file {directory}/libvirtd.pid
"""
_QEMU_CONF = """
user = "root"
group = "root"
security_driver = "none"
stdio_handler = "file"
"""
_LIBVIRTD_CONF = """
unix_sock_dir = "{directory}"
auth_unix_ro = "none"
auth_unix_rw = "none"
log_outputs = "2:file:{directory}/libvirtd.log"
host_uuid = "{uuid}"
"""
#: The longest path of a socket.
_SOCKET_PATH = 107


def missing() -> str:
    """Why there can be no libvirtd here; empty if there can."""
    if os.geteuid():
        return "libvirtd needs root"
    if importlib.util.find_spec("libvirt") is None:
        return "libvirt-python is not installed: pip install 'nova-twotier[agent]'"
    for program in _PROGRAMS:
        if _path(program) is None:
            return (
                f"{program} is not installed: apt-get install libvirt-daemon-system "
                "qemu-system-x86 qemu-utils"
            )
    if not any(map(os.path.exists, _CPU_CONTROLLERS)):
        return "no control group for CPUs is mounted"
    if subprocess.run([*_namespaces(), "true"], capture_output=True, check=False).returncode:  # noqa: S603
        return "this container may not make namespaces"
    return ""


def uri(directory: pathlib.Path) -> str:
    """libvirt's URI of the libvirtd in a directory."""
    return f"qemu:///system?socket={_socket(directory)}"


def prepare(directory: pathlib.Path, host: str, ready: pathlib.Path) -> list[str]:
    """Write the configuration of a libvirtd; returns the command that runs it.

    :param directory: an existing one, for its configuration, its log and its socket.
    :param host: what it takes for the name of its host.
    :param ready: the file that says that it answers.
    :raises FakeCloudError: if the directory's path is too long for a socket.
    """
    if len(_socket(directory)) > _SOCKET_PATH:
        raise FakeCloudError(f"{directory} is too long for a socket; choose a shorter --dir")
    (directory / "hosts").write_text(f"127.0.0.1 localhost\n127.0.0.1 {host}\n")
    (directory / "qemu.conf").write_text(_QEMU_CONF)
    # By default that of the machine, and no guest migrates to a host with the same.
    own = uuid.uuid5(uuid.NAMESPACE_URL, _socket(directory))
    (directory / "libvirtd.conf").write_text(_LIBVIRTD_CONF.format(directory=directory, uuid=own))
    script = _START.format(
        host=host,
        directories=" ".join(_DIRECTORIES),
        directory=directory,
        socket=_socket(directory),
        ready=ready,
        libvirtd=_path("libvirtd"),
    )
    return [*_namespaces(), "sh", "-c", script]


def _namespaces() -> list[str]:
    kinds = ["--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child"]
    return ["unshare", *kinds]


def _socket(directory: pathlib.Path) -> str:
    return f"{directory}/libvirt-sock"


def _path(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
