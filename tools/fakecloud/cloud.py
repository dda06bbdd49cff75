"""Bring a fake cloud up and down; what is running is known from its directory alone."""

import dataclasses
import json
import os
import pathlib
import signal
import sys
import time
from collections.abc import Sequence

import requests

from nova_twotier.tools.fakecloud import child, database, handover, options, ports, processes
from nova_twotier.tools.fakecloud.embedded import Embedded, api
from nova_twotier.tools.fakecloud.errors import FakeCloudError, NotUp
from nova_twotier.tools.fakecloud.layout import Layout
from nova_twotier.tools.fakecloud.options import Options
from nova_twotier.tools.fakecloud.settings import Settings

#: Seconds that processes have to start, and that each host adds: they share a core.
START_PATIENCE, PATIENCE_A_HOST = 180.0, 1.0
MANAGER, API = "manager", "twotier"
#: Our own processes: they read the options again at SIGHUP, and what they know is in files, so that
#: a cloud in which only these have ended is still up.
OURS = (API, MANAGER)


class FakeCloud:
    """One cloud in one directory.

    >>> cloud = FakeCloud('/tmp/cloud', hosts=4)
    >>> info = cloud.up()           # ready when it returns; the content of cloud.json
    >>> cloud.down()
    """

    def __init__(
        self,
        dir: str | pathlib.Path,
        progress=lambda text: None,
        config: pathlib.Path | None = None,
        set: Sequence[str] = (),
        **settings,
    ):
        """
        :param config: a file with options for the queue manager and its API.
        :param set: the same, one by one, as `SECTION.OPTION=VALUE`.
        :param settings: of `Settings`; those that are not given are the running cloud's if one is
            up.
        """
        self._given = settings
        self._config, self._set = config, set
        self.layout = Layout(Settings(dir=dir).dir)
        self._progress = progress
        # Which settings go together depends on those of the cloud that is up.
        state = self.layout.read_state()
        running = state["settings"] if state and _up(state) else {}
        self.settings = Settings(**{**running, "dir": dir, **settings})

    def up(self) -> dict:
        """Start the cloud, unless it is up; leave nothing behind on failure or interruption."""
        with self._lock():
            state = self.layout.read_state()
            kept = options.read(self.layout.options)
            wanted = options.changed(kept, self._config, self._set)
            if state and _up(state):
                running = state["settings"]
                if changed := self.settings.differences(running, self._given):
                    raise FakeCloudError(
                        f"a cloud with {', '.join(changed)} is up in {self.layout.root}; "
                        f'run "fakecloud down" first'
                    )
                if wanted != kept:
                    self._change_options(state, kept, wanted)
                missing = _ended(state)
                managed = running.get("manager", False)
                if self.settings.manager and not managed:
                    missing.append(MANAGER)
                manager = managed or MANAGER in missing
                self.settings = Settings(**{**running, "manager": manager})
                if missing:
                    return self._start_missing(state, missing)
                self._progress("already up")
                return self.info()
            if state:
                self._progress(
                    'the cloud here ended without "fakecloud down", as when it is killed or this '
                    "machine restarts: it is cleaned up, and a new one starts without its jobs"
                )
                self._end(state)
            options.write(self.layout.options, wanted)
            try:
                return self._start()
            except BaseException as error:
                self._end(self.layout.read_state() or {})
                if isinstance(error, _unexpected()):
                    raise FakeCloudError(
                        f"cannot start the cloud: {error}; the logs are in {self.layout.logs}"
                    ) from error
                raise

    def down(self, purge: bool = False) -> bool:
        """End what `up` started; True when there was something to end."""
        if not self.layout.root.exists():
            return False
        with self._lock():
            state = self.layout.read_state()
            if state:
                self._end(state)
            if purge:
                self.layout.purge()
        return state is not None

    def status(self) -> dict:
        """State of the cloud (up, incomplete, down or crashed) and of each of its processes."""
        state = self.layout.read_state()
        if not state:
            return {"state": "down", "dir": str(self.layout.root), "processes": []}
        rows = [
            {"name": process.name, "pid": process.pid, "alive": process.alive()}
            for process in _processes(state)
        ]
        if state["status"] == "starting":
            name = "starting" if any(row["alive"] for row in rows) else "crashed"
        elif _up(state):
            name = "incomplete" if _ended(state) else "up"
        else:
            name = "crashed"
        return {
            "state": name,
            "dir": str(self.layout.root),
            "settings": state["settings"],
            "ports": state["ports"],
            "processes": rows,
        }

    def info(self) -> dict:
        """The content of cloud.json."""
        try:
            return json.loads(self.layout.cloud_json.read_text())
        except FileNotFoundError as error:
            raise NotUp(f'no cloud is up in {self.layout.root}; run "fakecloud up"') from error

    def nova(self, token: str | None = None):
        """A novaclient of the administrator, or of the user:project of a token (embedded)."""
        from nova_twotier.tools.fakecloud import bootstrap

        return bootstrap.nova_client(handover.read(self.info(), token))

    def placement(self):
        """An HTTP client of Placement, as administrator."""
        from nova_twotier.tools.fakecloud import bootstrap

        return bootstrap.placement_client(handover.read(self.info()))

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *_):
        self.down()

    def _lock(self):
        return self.layout.lock(
            waiting=lambda: self._progress("waiting for another fakecloud command")
        )

    def _change_options(self, state: dict, kept: Options, wanted: Options) -> None:
        """Change options of a cloud that is up.

        :raises FakeCloudError: if they are read only at the start.
        """
        if fixed := options.fixed(kept, wanted):
            raise FakeCloudError(
                f"{', '.join(fixed)} cannot change while a cloud is up: "
                'run "fakecloud down" first, then give it again'
            )
        options.write(self.layout.options, wanted)
        handover.write_manager_conf(self.layout, handover.read(self.info()))
        for process in _processes(state):
            if process.name in OURS and process.alive():
                os.kill(process.pid, signal.SIGHUP)
        self._progress("the options have changed")

    def _start(self) -> dict:
        began = time.monotonic()
        self.layout.make_fresh()
        variant_class = self._variant_class()
        sockets = ports.listen(variant_class.servers, self.settings.port_base)
        numbers = {name: sock.getsockname()[1] for name, sock in sockets.items()}
        state = {
            "status": "starting",
            "settings": self.settings.to_dict(),
            "ports": numbers,
            "processes": [],
            "discard": {},
        }
        try:
            variant = variant_class(self.settings, self.layout, numbers)
            variant.check()
            state["discard"] = variant.to_discard()
            self.layout.write_state(state)
            variant.prepare(self._progress)
            handover.write_manager_conf(self.layout, variant.access())
            database.fill(self.layout.manager_conf)
            running = []
            for number, stage in enumerate(variant.stages()):
                self._progress("starting " + ", ".join(name for name, *_ in stage))
                started = []
                for name, argv, served, extra in stage:
                    process = self._spawn(name, argv, {key: sockets[key] for key in served}, extra)
                    started.append(process)
                    state["processes"].append(dataclasses.asdict(process))
                    self.layout.write_state(state)
                running += started
                self._wait_until_ready(started, running)
                variant.after_stage(number)
        finally:
            ports.close(sockets)
        self._bootstrap(variant)
        if self.settings.manager:
            running.append(self._start_manager(state, variant.access().twotier_url))
        info = handover.write(self.settings, self.layout, variant.access(), running, numbers)
        state["status"] = "up"
        self.layout.write_state(state)
        self._progress(f"ready after {time.monotonic() - began:.1f} s")
        return info

    def _start_manager(self, state: dict, url: str) -> processes.Process:
        """Start a queue manager, and wait until it leads its pool.

        :param url: of the API, which knows that.
        """
        self._progress("starting manager")
        argv = [sys.executable, "-m", "nova_twotier.cmd.manager"]
        process = self._spawn(MANAGER, [*argv, f"--config-file={self.layout.manager_conf}"], {}, {})
        state["processes"].append(dataclasses.asdict(process))
        self.layout.write_state(state)
        deadline = time.monotonic() + self._patience
        while requests.get(f"{url}/healthcheck", timeout=self._patience).text != "OK":
            if not process.alive():
                raise FakeCloudError(self._last_words(MANAGER, "ended while starting"))
            if time.monotonic() > deadline:
                raise FakeCloudError(
                    self._last_words(MANAGER, f"did not lead after {self._patience:.0f} s")
                )
            time.sleep(0.1)
        return process

    def _start_api(self, state: dict) -> processes.Process:
        """Start the API of a cloud that is up, where it was before."""
        self._progress("starting twotier")
        name, argv, served, extra = api(self.layout)
        self.layout.ready(name).unlink(missing_ok=True)
        sockets = {each: ports.listen_on(state["ports"][each]) for each in served}
        try:
            process = self._spawn(name, argv, sockets, extra)
        finally:
            ports.close(sockets)
        state["processes"].append(dataclasses.asdict(process))
        self.layout.write_state(state)
        self._wait_until_ready([process], [process])
        return process

    def _start_missing(self, state: dict, names: Sequence[str]) -> dict:
        """Start processes of ours in a cloud that is up; returns the new content of cloud.json."""
        access, before = handover.read(self.info()), state["processes"]
        ended = [process for process in _processes(state) if process.name in names]
        processes.stop(ended)  # what they have left
        kept = [fields for fields in before if fields["name"] not in names]
        state["processes"] = list(kept)
        try:
            if API in names:
                self._start_api(state)
            if MANAGER in names:
                self._start_manager(state, access.twotier_url)
        except BaseException as error:
            processes.stop(_processes(state)[len(kept) :])
            state["processes"] = before
            self.layout.write_state(state)
            if isinstance(error, OSError):
                raise FakeCloudError(f"cannot start {' and '.join(names)}: {error}") from error
            raise
        state["settings"]["manager"] = self.settings.manager
        self.layout.write_state(state)
        running = _processes(state)
        return handover.write(self.settings, self.layout, access, running, state["ports"])

    @property
    def _patience(self) -> float:
        return START_PATIENCE + PATIENCE_A_HOST * self.settings.hosts

    def _variant_class(self):
        if self.settings.full:
            from nova_twotier.tools.fakecloud.full import Full

            return Full
        return Embedded

    def _spawn(self, name, argv, sockets, extra) -> processes.Process:
        fds = {key: sock.fileno() for key, sock in sockets.items()}
        env = {**environment(), **child.environment(name, self.layout.run, fds), **extra}
        return processes.start(name, argv, self.layout.log(name), env, list(fds.values()))

    def _wait_until_ready(self, started, running) -> None:
        deadline = time.monotonic() + self._patience
        for process in started:
            while not self.layout.ready(process.name).exists():
                for other in running:
                    if not other.alive():
                        raise FakeCloudError(self._last_words(other.name, "ended while starting"))
                if time.monotonic() > deadline:
                    raise FakeCloudError(
                        self._last_words(
                            process.name, f"was not ready after {self._patience:.0f} s"
                        )
                    )
                time.sleep(0.05)

    def _last_words(self, name: str, what: str, lines: int = 8) -> str:
        log = self.layout.log(name)
        tail = log.read_text(errors="replace").splitlines()[-lines:] if log.exists() else []
        return "\n".join([f"{name} {what}; all of its log is in {log}", *tail])

    def _bootstrap(self, variant) -> None:
        # Late: novaclient takes as long to import as the services need to start.
        from nova_twotier.tools.fakecloud import bootstrap

        bootstrap.run(self.settings, variant.access())

    def _end(self, state: dict) -> None:
        # One that was just being started when `up` was interrupted is in no record.
        stray = processes.bearing(child.RUN_DIR, str(self.layout.run))
        processes.stop(_processes(state) + stray)
        discard = state.get("discard")
        if discard:
            from nova_twotier.tools.fakecloud import servers

            servers.discard(discard, self._progress)
        for path in (
            self.layout.state,
            self.layout.cloud_json,
            self.layout.openrc,
            self.layout.manager_conf,
        ):
            path.unlink(missing_ok=True)


def _unexpected() -> tuple[type[Exception], ...]:
    """Failures that are the machine's or a service's, not a mistake in this program."""
    from keystoneauth1 import exceptions as keystoneauth
    from novaclient import exceptions as novaclient

    return OSError, keystoneauth.ClientException, novaclient.ClientException


def _processes(state: dict) -> list[processes.Process]:
    return [processes.Process(**fields) for fields in state.get("processes", [])]


def _up(state: dict) -> bool:
    """Whether the cloud runs, with or without our own processes."""
    others = [process for process in _processes(state) if process.name not in OURS]
    return state["status"] == "up" and all(process.alive() for process in others)


def _ended(state: dict) -> list[str]:
    """Our own processes that were started and have ended."""
    dead = {process.name for process in _processes(state) if not process.alive()}
    return [name for name in OURS if name in dead]


def environment() -> dict[str, str]:
    """For the children: the caller's, without settings of other OpenStack installations."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("OS_") and name != "LISTEN_PID"
    }
