"""Drains of hosts, on whatever database."""

from concurrent import futures

from nova_twotier.db import drains
from nova_twotier.db.models import Drain

#: Long enough for another thread to begin what it wants, and to be seen waiting.
MOMENT = 0.2


class DrainsBehaviour:
    """Tests of `self.store`, a new one for each."""

    def test_drains_of_hosts(self):
        def present(now):
            with self.store.reading() as session:
                found = drains.present(session, now)
            begun = sorted(drain.host for drain in drains.begun(found, now))
            return sorted(found), begun

        def drain(host, now=0.0, **given):
            return drains.drain(self.store, host, now, **given)

        drain("a", since=100.25, reason="Lüfter 東京")
        drain("b", since=200.0, until=300.0, migrate=True)
        for now, there in (
            (50.0, (["a", "b"], [])),
            (100.25, (["a", "b"], ["a"])),
            (299.0, (["a", "b"], ["a", "b"])),
            (300.0, (["a"], ["a"])),
        ):
            self.assertEqual(there, present(now))
        drain("a", since=400.0, reason="")
        self.assertEqual((["a"], []), present(300.0))
        self.assertEqual((True, False), tuple(drains.undrain(self.store, "a") for _ in range(2)))
        self.assertFalse(drains.undrain(self.store, "b"), "its window is over")
        self.assertEqual(([], []), present(0.0))
        self.assertEqual(
            [
                ("host drain", "a: Lüfter 東京"),
                ("host drain", "b"),
                ("host drain", "a"),
                ("host undrain", "a"),
            ],
            [(event.kind, event.detail) for event in self.store.events()],
        )

    def test_two_who_undrain_a_host_at_once(self):
        """Of two who undrain a host at once, one ends the drain and records an event."""
        drains.drain(self.store, "a", 0.0)
        with futures.ThreadPoolExecutor(1) as pool:
            with self.store.transaction() as session:
                session.delete(session.get(Drain, "a"))
                session.flush()
                other = pool.submit(drains.undrain, self.store, "a")
                futures.wait([other], MOMENT)
            self.assertFalse(other.result(30), "it was ended before")
        self.assertEqual(["host drain"], [event.kind for event in self.store.events()])

    def test_a_drain_is_changed(self):
        def drain(now, **given):
            found = drains.drain(self.store, "a", now, **given)
            return found.since, found.until, found.reason, found.migrate

        self.assertEqual((10.0, None, "", False), drain(10.0))
        self.assertEqual(
            (10.0, 50.0, "fan", True), drain(20.0, until=50.0, reason="fan", migrate=True)
        )
        self.assertEqual((30.0, 50.0, "fan", True), drain(20.0, since=30.0))
        for given in ({"since": 50.0}, {"until": 30.0}, {"since": 0.0, "until": 20.0}):
            self.assertRaises(drains.Over, drain, 20.0, **given)
        self.assertEqual((30.0, 50.0, "fan", True), drain(20.0))
        self.assertEqual((30.0, None, "", True), drain(20.0, until=None, reason=""))
        # One that is over leaves nothing to the next.
        drain(20.0, until=50.0, reason="fan")
        self.assertEqual((50.0, None, "", False), drain(50.0))
        self.assertRaises(drains.Over, drains.drain, self.store, "b", 10.0, until=10.0)
        with self.store.reading() as session:
            self.assertEqual(["a"], list(drains.present(session, 50.0)))

    def test_a_drain_of_which_only_the_window_changes(self):
        """A change of the window alone is no event: it would say the same once more."""
        for now, given in (
            (0.0, {"since": 10.0, "until": 50.0, "reason": "fan"}),
            (0.0, {"since": 20.0}),
            (0.0, {"until": 60.0, "reason": "fan", "migrate": True}),
            (30.0, {"reason": "BIOS"}),
            (30.0, {"reason": "BIOS"}),
            # It is over, and this is another one.
            (60.0, {"reason": "BIOS"}),
        ):
            drains.drain(self.store, "a", now, **given)
        details = [event.detail for event in self.store.events()]
        self.assertEqual(["a: fan", "a: BIOS", "a: BIOS"], details)
