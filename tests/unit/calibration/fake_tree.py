"""A directory that looks like the root of a hierarchy of control groups."""

import pathlib
import shutil

import fixtures

from nova_twotier.agent.cgroups import CpuController


class FakeTree(fixtures.Fixture):
    """A directory; as in a control group, its files do not keep a group from being removed.

    :param idle: whether groups have cpu.idle.
    """

    def __init__(self, version, idle=True):
        super().__init__()
        self._version = version
        self._idle = idle

    def _setUp(self):
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.hierarchy = CpuController(self._version, self.root)
        if self._version == 2:
            (self.root / "cgroup.controllers").write_text("cpu memory\n")
            (self.root / "cgroup.subtree_control").write_text("memory\n")
        make, remove = pathlib.Path.mkdir, pathlib.Path.rmdir

        def mkdir(path, *args, **kwargs):
            make(path, *args, **kwargs)
            if self._idle and self.root in path.parents:
                (path / "cpu.idle").write_text("0\n")

        def rmdir(path):
            if self.root in path.parents:
                shutil.rmtree(path)
            else:
                remove(path)

        for name, fake in (("mkdir", mkdir), ("rmdir", rmdir)):
            self.useFixture(fixtures.MonkeyPatch(f"pathlib.Path.{name}", fake))

    def read(self, name):
        [path] = self.root.glob(f"twotier-calibrate-*/{name}")
        return path.read_text()
