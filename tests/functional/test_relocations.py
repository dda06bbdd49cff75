"""Preempted jobs that find idle background slots on another host are live-migrated there."""

from nova_twotier.cloud.errors import CloudError
from nova_twotier.db.states import JobState
from tests.functional.manager_case import ManagerTestCase
from tests.unit.manager import builders

#: Rounds, sizes and CPU utilisations. Job 3 closes the slots above a part of job 2, which has to
#: leave them.
ARRIVALS = [(0, 3, 0.5), (4, 4, 0.5), (14, 2, 1.0)]
LIVES = [31, 40, 19]
#: Job 4 makes room for job 3, which needs the slots that it leaves.
CROWDED = [(0, 2, 1.0), (4, 2, 1.0), (5, 3, 0.3), (9, 2, 0.5), (17, 2, 0.3), (21, 2, 0.5)]
CROWDED_LIVES = [15, 40, 40, 25, 15, 15]


class TestRelocations(ManagerTestCase):
    def setUp(self):
        super().setUp()
        #: Ids of the servers that were ever shelved, and those that Nova refused to migrate.
        self.shelved, self.refused = set(), []

    def events(self, **options):
        """Those of job 2, by kind."""
        settings = {"attempts": 2, "boot_grace": 3.0, "host_interval": 1e9, **options}
        self.options = builders.options(**settings)
        jobs = self.play("amcbf", ARRIVALS, LIVES)
        self.assertEqual([JobState.FINISHED] * 3, [job.state for job in jobs])
        self.check_clean()
        return {event.kind: str(event.reason) for event in self.store.events(2)}

    def others(self, at):
        away = {each.id for each in self.nova.servers() if each.status.startswith("SHELVED")}
        self.shelved |= away

    def refuse(self, server, host):
        self.refused.append(server.id)
        raise CloudError("no live migration on these hosts", 400)

    def test_it_continues_there(self):
        self.cloud(seed=111)
        events = self.events()
        self.assertIn("preempted by job 3", events["migrated"])
        self.assertNotIn("evicted", events)
        self.assertEqual(set(), self.shelved)

    def test_what_needs_the_slots_that_it_leaves_waits_until_they_are_free(self):
        """Nova frees them a while after it lists the servers on their new hosts."""
        self.cloud(seed=16)
        self.nova.lingers = 4
        self.options = builders.options(attempts=4, boot_grace=3.0, host_interval=1e9)
        jobs = self.play("amcbf", CROWDED, CROWDED_LIVES)
        self.assertEqual([JobState.FINISHED] * len(jobs), [job.state for job in jobs])
        self.check_clean()
        kinds = [kind for job in jobs for kind in self.kinds(job.number)]
        self.assertIn("migrated", kinds)
        self.assertFalse({"not started", "not swapped"} & {*kinds}, kinds)

    def test_slots_that_are_never_freed_hold_up_nobody(self):
        self.cloud(seed=16)
        self.nova.lingers = 10**6
        self.options = builders.options(attempts=4, boot_grace=3.0, host_interval=1e9)
        jobs = self.play("amcbf", CROWDED, CROWDED_LIVES)
        self.assertEqual([JobState.FINISHED] * len(jobs), [job.state for job in jobs])

    def test_where_servers_do_not_migrate_it_is_saved(self):
        self.cloud(seed=111)
        events = self.events(migrate_preempted=False)
        self.assertLessEqual({"evicted", "restored"}, events.keys())
        self.assertNotEqual(set(), self.shelved)

    def test_if_nova_refuses_it_is_saved(self):
        self.cloud(seed=111)
        self.nova.live_migrate = self.refuse
        events = self.events()
        self.assertNotEqual([], self.refused)
        self.assertLessEqual({"evicted", "restored"}, events.keys())
