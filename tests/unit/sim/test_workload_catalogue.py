"""Workloads by name."""

import pathlib
import tempfile

import testtools

from nova_twotier.sim.workloads import catalogue, swf
from nova_twotier.sim.workloads.jann97 import Jann97
from nova_twotier.sim.workloads.workload import Workload


class TestModels(testtools.TestCase):
    def test_models(self):
        for source in (
            "feitelson:50",
            "jann:50",
            "lublin:50",
            "lublin:50:type1",
            "memoryless:50:3",
        ):
            made = catalogue.load(source, seed=2)
            self.assertEqual((source, 320, 50), (made.name, made.nodes, len(made.jobs)))
            self.assertEqual(made, catalogue.load(source, seed=2))
            self.assertNotEqual(made, catalogue.load(source, seed=3))

    def test_variants_differ(self):
        variants = [
            catalogue.load(f"lublin:50{option}").jobs for option in ("", ":type0", ":type1")
        ]
        self.assertEqual(variants[0], variants[1])
        self.assertNotEqual(variants[0], variants[2])

    def test_nodes_and_load(self):
        made = catalogue.load("jann:50", nodes=64, load=0.5)
        self.assertEqual(64, made.nodes)
        self.assertAlmostEqual(0.5, made.load)

    def test_estimates(self):
        exact = catalogue.load("lublin:500")
        self.assertTrue(all(job.estimate == job.runtime for job in exact.jobs))
        users = catalogue.load("lublin:500+tsafrir:180000")
        self.assertEqual("lublin:500", users.name)
        self.assertEqual(180_000, max(job.estimate for job in users.jobs))
        self.assertTrue(max(job.estimate for job in catalogue.load("lublin:500+tsafrir").jobs))

    def assert_refused(self, text, source, **options):
        error = self.assertRaises(catalogue.SourceError, catalogue.load, source, **options)
        self.assertEqual(text, str(error))

    def test_what_there_is_not(self):
        models = "feitelson, jann, lublin, memoryless"
        self.assert_refused(f"unknown model 'x'; there are {models}", "x:5")
        for size in ("x", "0.5", "inf", "nan", "1e300"):
            self.assert_refused(
                f"memoryless has no average size '{size}'; give 1 to 1000000, such as "
                "memoryless:1000:8",
                f"memoryless:5:{size}",
            )
        self.assert_refused("lublin:: '' is no number of jobs; write lublin:1000", "lublin:")
        self.assert_refused("jann:0: '0' is no number of jobs; write jann:1000", "jann:0")
        self.assert_refused("lublin has no variant 'x'; there are type0, type1", "lublin:5:x")
        self.assert_refused("feitelson has no variant 'x'", "feitelson:5:x")
        self.assert_refused(
            "none.json cannot be read: No such file or directory", "jann:5:none.json"
        )
        self.assert_refused("seed is -1; it must be 0 or more", "jann:5", seed=-1)
        self.assert_refused("nodes is 0; it must be 1 or more", "jann:5", nodes=0)
        self.assert_refused("jann:5: load is 0; it must be above 0", "jann:5", load=0)
        self.assert_refused(
            "jann:5+tsafrir:x: 'x' is no number of seconds; write +tsafrir:64800",
            "jann:5+tsafrir:x",
        )


class TestFiles(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def assert_refused(self, text, path):
        error = self.assertRaises(catalogue.SourceError, catalogue.load, str(path))
        self.assertEqual(text, str(error))

    def test_a_trace(self):
        jobs = Workload.of("w", 8, range(500), [1, 2] * 250, [60] * 500)
        # As the archive names the traces that the model of estimates was applied to.
        for name in ("a.swf", "a.swf.gz", "a+tsafrir05.swf"):
            path = self.directory / name
            swf.write(path, jobs.to_swf())
            found = catalogue.load(str(path))
            self.assertEqual((name.split(".")[0], 8), (found.name, found.nodes))
            self.assertEqual(jobs.jobs, found.jobs)
            self.assertEqual(4, catalogue.load(str(path), nodes=4).nodes)
            users = catalogue.load(f"{path}+tsafrir:7200")
            self.assertEqual(7200, max(job.estimate for job in users.jobs))

    def test_a_fitted_model(self):
        path = self.directory / "model.json"
        Jann97().save(path)
        self.assertEqual(catalogue.load("jann:50").jobs, catalogue.load(f"jann:50:{path}").jobs)

    def test_a_missing_file(self):
        path = self.directory / "none.swf"
        self.assert_refused(f"{path} cannot be read: No such file or directory", path)
        self.assert_refused(f"{self.directory} cannot be read: Is a directory", self.directory)

    def test_a_file_of_something_else(self):
        path = self.directory / "a.swf"
        path.write_text("hello\n")
        self.assert_refused(
            f"{path}:1: is not a record of the Standard Workload Format, which has 18 fields; "
            "this line has 1",
            path,
        )
        path.write_text("")
        self.assert_refused("a: trace has no jobs", path)
