"""The study of fair share from the command line to the report, on tiny traces."""

import dataclasses

from nova_twotier.sim.reproduce import archive, fair_share
from nova_twotier.sim.workloads import catalogue, swf
from tests.unit.sim.test_reproduce import ReproduceCase


class TestStudy(ReproduceCase):
    def traces(self):
        directory = self.directory / "traces"
        directory.mkdir()
        for seed, place in enumerate(fair_share.PLACES):
            workload = catalogue.load("lublin:80", nodes=64, seed=seed)
            jobs = tuple(job._replace(user=job.number % 4) for job in workload.jobs)
            trace = dataclasses.replace(workload, jobs=jobs).to_swf()
            swf.write(directory / f"{archive.TRACES[place].file}.swf", trace)
        return directory

    def test_everything(self):
        rows, page = self.works("fair-share", "--traces", self.traces(), "--seeds", "2")
        self.assertEqual(
            [claim.text for claim in fair_share.STUDY.claims], [r["finding"] for r in rows]
        )
        # EASY is run once.
        self.assertEqual(2 * (4 * 2 + 2), len(list((self.out / "runs").glob("*.json"))))
        for row in rows:
            self.assertGreater(row["measured"], 0)
        for place in fair_share.PLACES:
            self.assertIn(f"<caption>{place}</caption>", page)
        for series in fair_share.SCENARIOS:
            self.assertIn(series, page)
