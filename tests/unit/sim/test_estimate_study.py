"""The study of estimates from the command line to the report, on a tiny trace."""

import dataclasses

from nova_twotier.sim.reproduce import archive, estimate_study
from nova_twotier.sim.workloads import catalogue, swf
from tests.unit.sim.test_reproduce import ReproduceCase


class TestStudy(ReproduceCase):
    def traces(self, *files, seed=0):
        directory = self.directory / "traces"
        directory.mkdir()
        workload = catalogue.load("lublin:60+tsafrir", nodes=64, seed=seed)
        jobs = tuple(job._replace(user=job.number % 3) for job in workload.jobs)
        for file in files:
            trace = dataclasses.replace(workload, jobs=jobs).to_swf()
            swf.write(directory / f"{file}.swf", trace)
        return directory

    def test_a_trace(self):
        traces = self.traces(archive.TRACES["KTH"].file)
        rows, page = self.works(
            "estimates", "--traces", traces, "--seeds", "1", "--only", "KTH", "--head", "40"
        )
        self.assertEqual(
            [claim.text for claim in estimate_study.STUDY.claims], [row["finding"] for row in rows]
        )
        tested = [row["finding"] for row in rows if row["holds"] in ("yes", "no")]
        self.assertTrue(all(finding.startswith("KTH") for finding in tested))
        for suffix in (estimate_study.LOGGED, estimate_study.LOADED):
            self.assertIn(f"<caption>KTH{suffix}</caption>", page)
        for series in (*estimate_study._CERTAIN, *estimate_study._DRAWN):
            self.assertIn(series, page)
