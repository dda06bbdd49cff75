"""A libvirtd of the test's own, and guests that do nothing but spin.

It runs in a mount namespace with directories of its own, so that it neither meets nor changes a
libvirt that the machine has already. Guests are emulated (TCG): a boot sector that jumps to itself.
"""

import contextlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import uuid

from tests.cloud.waiting import wait_for

#: Directories of libvirtd that are replaced by empty ones.
DIRECTORIES = (
    "/etc/libvirt",
    "/run/libvirt",
    "/var/cache/libvirt",
    "/var/lib/libvirt",
    "/var/log/libvirt",
)
START = """
set -e
for directory in {directories}; do
    mkdir -p $directory
    mount -t tmpfs tmpfs $directory
done
cp qemu.conf /etc/libvirt
exec {libvirtd} --config libvirtd.conf --pid-file libvirtd.pid
"""
QEMU_CONF = """
user = "root"
group = "root"
security_driver = "none"
stdio_handler = "file"
"""
LIBVIRTD_CONF = """
unix_sock_dir = "{directory}"
auth_unix_ro = "none"
auth_unix_rw = "none"
log_outputs = "2:file:{directory}/libvirtd.log"
"""
DOMAIN = """
<domain type="qemu">
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <memory unit="MiB">16</memory>
  <vcpu>1</vcpu>
  <cputune><shares>{weight}</shares></cputune>
  <os><type arch="x86_64" machine="pc">hvm</type></os>
  <devices>
    <disk type="file" device="disk">
      <driver name="qemu" type="raw"/>
      <source file="{disk}"/>
      <target dev="hda" bus="ide"/>
      <shareable/>
    </disk>
    <controller type="usb" model="none"/>
    <memballoon model="none"/>
  </devices>
</domain>
"""
#: `jmp $`, as a boot sector.
SPIN = b"\xeb\xfe".ljust(510, b"\0") + b"\x55\xaa"
#: Where the CPU controller of cgroup v1 or v2 is mounted.
CPU_CONTROLLERS = ("/sys/fs/cgroup/cpu/cgroup.procs", "/sys/fs/cgroup/cgroup.controllers")
#: The weight that Nova gives every domain.
NOVAS_WEIGHT = 1024


def missing():
    """Why there can be no libvirtd here; empty if there can."""
    if os.geteuid():
        return "libvirtd needs root"
    if os.cpu_count() < 2:
        return "one CPU for the guests and another for their emulators are needed"
    if importlib.util.find_spec("libvirt") is None:
        return "libvirt-python is not installed: install the extra [agent]"
    for program in ("libvirtd", "qemu-system-x86_64", "unshare"):
        if program_path(program) is None:
            return f"{program} is not installed: install libvirt-daemon-system, qemu-system-x86"
    if not any(map(os.path.exists, CPU_CONTROLLERS)):
        return "no control group for CPUs is mounted"
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode:
        return "this container may not make mount namespaces"
    return ""


def program_path(name):
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


class Libvirtd:
    """A libvirtd with all its files in one directory.

    :param directory: its path must be short, since it becomes part of a socket's name.
    """

    def __init__(self, directory):
        self._directory = pathlib.Path(directory)
        self.uri = f"qemu:///system?socket={self._directory}/libvirt-sock"

    def __enter__(self):
        import libvirt

        (self._directory / "qemu.conf").write_text(QEMU_CONF)
        (self._directory / "libvirtd.conf").write_text(
            LIBVIRTD_CONF.format(directory=self._directory)
        )
        (self._directory / "spin.img").write_bytes(SPIN)
        with open(self._directory / "out.log", "w") as log:
            script = START.format(
                directories=" ".join(DIRECTORIES), libvirtd=program_path("libvirtd")
            )
            self._process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", script],
                cwd=self._directory,
                stdout=log,
                stderr=log,
            )

        def connection():
            assert self._process.poll() is None, (self._directory / "out.log").read_text()
            with contextlib.suppress(libvirt.libvirtError):
                return libvirt.open(self.uri)

        self.connection = wait_for(connection, "libvirtd answers")
        return self

    def __exit__(self, *_):
        for domain in self.connection.listAllDomains():
            if domain.isActive():
                domain.destroy()
        self.connection.close()
        self._process.terminate()
        self._process.wait(30)

    def spin(self, weight=NOVAS_WEIGHT):
        """A new guest, as Nova defines it, that uses all the CPU time it gets."""
        name = str(uuid.uuid4())
        domain = self.connection.defineXML(
            DOMAIN.format(
                name=f"twotier-{name}", uuid=name, weight=weight, disk=self._directory / "spin.img"
            )
        )
        domain.create()
        return domain

    def hard_reboot(self, domain):
        """What Nova does: another domain with the same uuid and the flavor's weight."""
        domain.destroy()
        self.connection.defineXML(
            DOMAIN.format(
                name=domain.name(),
                uuid=domain.UUIDString(),
                weight=NOVAS_WEIGHT,
                disk=self._directory / "spin.img",
            )
        ).create()
