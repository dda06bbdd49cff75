"""One manager, two pools, on a real Nova: jobs stay on the hosts of their pool."""

import time

import pytest

from nova_twotier import conf as configuration
from nova_twotier.cloud.nova import Cloud
from nova_twotier.db.states import OVER, JobState
from nova_twotier.db.store import open_store
from nova_twotier.tools.replay.supervisor import Supervisor, python

pytestmark = pytest.mark.cloud

PATIENCE = 240


@pytest.fixture
def conf_file(fakecloud, tmp_path):
    """The manager's configuration, with a queue of its own."""
    path = tmp_path / "state.conf"
    path.write_text(
        f"[DEFAULT]\nstate_path = {tmp_path}/state\n"
        "[manager]\npools = default,gpu\nhost_interval = 2\n"
    )
    return [f"--config-file={fakecloud.info()['files']['manager_conf']}", f"--config-file={path}"]


def test_jobs_stay_in_their_pools(fakecloud, conf_file, tmp_path):
    conf = configuration.load(conf_file, "test")
    nova = Cloud(conf).nova
    *others, host = fakecloud.info()["hosts"]
    aggregate = nova.aggregates.create("gpu", None)
    nova.aggregates.add_host(aggregate, host)
    nova.aggregates.set_metadata(aggregate, {"twotier:pool": "gpu"})
    store = open_store(conf)

    def wait(what, *jobs):
        deadline = time.monotonic() + PATIENCE
        while not all(what(store.job(job.number)) for job in jobs):
            states = [(job.pool, job.state, job.tier, job.reason) for job in store.jobs()]
            assert time.monotonic() < deadline, states
            manager.check()
            time.sleep(0.2)

    def runs(job):
        return job.state == JobState.RUNNING

    def hosts_of(job):
        servers = nova.servers.list(search_opts={"all_tenants": 1})
        ours = [each for each in servers if each.metadata["twotier_job"] == job.uuid]
        return {getattr(each, "OS-EXT-SRV-ATTR:host") for each in ours}

    try:
        argv = python("nova_twotier.cmd.manager", *conf_file)
        with Supervisor("manager", argv, tmp_path / "manager.log", print) as manager:
            slots = fakecloud.info()["slots"]
            gpu = store.submit(slots, [1.0], pool="gpu")
            waiting = store.submit(slots, [1.0], pool="gpu")
            plain = store.submit(2, [1.0])
            stray = store.submit(1, [1.0], pool="gpo")
            wait(runs, gpu, plain)
            wait(lambda job: job.state == JobState.FAILED, stray)
            assert str(store.job(stray.number).reason).startswith("there is no pool gpo, only")
            assert hosts_of(gpu) == {host}
            assert hosts_of(plain) <= set(others)
            assert store.job(waiting.number).state == JobState.QUEUED
            store.request_action(waiting.number, "cancel")

            # The pool loses its host: the job rests, and comes back with it.
            nova.aggregates.set_metadata(aggregate, {"twotier:pool": None})
            wait(lambda job: job.state == JobState.QUEUED and job.saved, gpu)
            assert store.job(plain.number).evictions == 0
            nova.aggregates.set_metadata(aggregate, {"twotier:pool": "gpu"})
            wait(runs, gpu)
            assert hosts_of(gpu) == {host}
            for job in (gpu, plain):
                store.request_action(job.number, "complete")
            wait(lambda job: job.state in OVER, gpu, waiting, plain)
        states = [job.state for job in store.jobs()]
    finally:
        nova.aggregates.remove_host(aggregate, host)
        nova.aggregates.delete(aggregate)
        store.close()
    assert states == ["finished", "cancelled", "finished", "failed"]
