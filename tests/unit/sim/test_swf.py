"""The reader of the Standard Workload Format."""

import codecs
import gzip
import pathlib
import tempfile

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.sim.workloads import swf

#: What read gives back: nothing but whole numbers and times, comments without blanks around them.
WHOLE = st.integers(-1, 2**40)
TIMES = st.one_of(WHOLE.map(float), st.floats(-1, 1e12))
COMMENTS = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n")).map(str.strip)
RECORDS = st.builds(
    swf.Record,
    number=WHOLE,
    submit=st.floats(0, 1e9),
    wait=TIMES,
    run=st.floats(0, 1e9),
    allocated=st.integers(1, 2**20),
    cpu_time=TIMES,
    memory=TIMES,
    requested=WHOLE,
    requested_time=TIMES,
    requested_memory=TIMES,
    status=WHOLE,
    user=WHOLE,
    group=WHOLE,
    executable=WHOLE,
    queue=WHOLE,
    partition=WHOLE,
    preceding=WHOLE,
    think_time=TIMES,
)

LINE = "{number} {submit} 0 {run} {allocated} -1 -1 {requested} {wanted} -1 1 3 3 -1 -1 -1 -1 -1"


def line(number=1, submit=0, run=60, allocated=4, requested=4, wanted=120):
    return LINE.format(
        number=number,
        submit=submit,
        run=run,
        allocated=allocated,
        requested=requested,
        wanted=wanted,
    )


def parse(*lines):
    return swf.parse(lines, "t.swf")


class TestRecords(testtools.TestCase):
    def test_fields_are_read(self):
        (record,) = parse(line(number=7, submit=5, run=60, wanted=90)).records
        self.assertEqual(
            (7, 5, 60, 4, 90),
            (record.number, record.submit, record.run, record.procs, record.estimate),
        )

    def test_requested_processors_stand_in_for_unknown_ones(self):
        (record,) = parse(line(allocated=-1, requested=6)).records
        self.assertEqual(6, record.procs)

    def test_estimate_is_never_below_the_run_time(self):
        short, unknown = parse(line(1, run=60, wanted=30), line(2, run=60, wanted=-1)).records
        self.assertEqual((60, 60), (short.estimate, unknown.estimate))

    def test_records_without_run_time_or_processors_are_left_out_and_counted(self):
        trace = parse(line(1, run=-1), line(2, allocated=0, requested=0), line(3, run=0))
        self.assertEqual([3], [record.number for record in trace.records])
        self.assertEqual(2, trace.left_out)

    def test_whole_numbers_may_be_written_as_fractions(self):
        (record,) = parse(line(allocated="4.0", run="1e1")).records
        self.assertEqual((4, 10), (record.procs, record.run))

    @given(st.lists(st.integers(0, 50), max_size=20))
    def test_records_come_by_submit_time_then_number(self, submits):
        lines = [line(number, submit) for number, submit in enumerate(submits)]
        found = [(record.submit, record.number) for record in parse(*lines).records]
        self.assertEqual(sorted((s, n) for n, s in enumerate(submits)), found)


class TestHeader(testtools.TestCase):
    def test_comments_are_kept(self):
        trace = parse("; MaxProcs: 100", ";  Acknowledge: Lars Malinowsky", line())
        self.assertEqual(100, trace.processors)
        self.assertEqual("Lars Malinowsky", trace.header("acknowledge"))
        self.assertIsNone(trace.header("MaxNodes"))

    def test_processors_of_a_trace_without_header_are_those_of_its_largest_job(self):
        self.assertEqual(9, parse(line(1), line(2, allocated=9)).processors)

    def test_max_nodes_stands_in_for_unknown_max_procs(self):
        self.assertEqual(12, parse("; MaxProcs: -1", "; MaxNodes: 12 (x)", line()).processors)

    def test_a_word_is_no_number_of_processors(self):
        for word in ("\u00b2", "1,024", "many", "0", ""):
            trace = parse(f"; MaxProcs: {word}", line())
            self.assertEqual((None, 4), (trace.machine, trace.processors))


class TestMalformed(testtools.TestCase):
    def assert_refused(self, text, *lines):
        error = self.assertRaises(swf.MalformedTrace, parse, *lines)
        self.assertEqual(text, str(error))

    def test_missing_field(self):
        self.assert_refused(
            "t.swf:2: is not a record of the Standard Workload Format, which has 18 fields; "
            "this line has 17",
            line(),
            line(2).rsplit(" ", 1)[0],
        )

    def test_word_where_a_number_belongs(self):
        self.assert_refused(
            "t.swf:1: field 4 (run) is 'soon'; it must be a number", line(run="soon")
        )

    def test_fraction_of_a_processor(self):
        self.assert_refused(
            "t.swf:1: field 5 (allocated) is '2.5'; it must be a whole number",
            line(allocated="2.5"),
        )

    def test_not_a_number(self):
        self.assert_refused("t.swf:1: field 4 (run) is 'nan'; it must be a number", line(run="nan"))

    def test_whole_numbers_that_no_table_holds(self):
        for sign in ("", "-"):
            self.assert_refused(
                f"t.swf:1: field 1 (number) is {sign}{2**63}; it must be below 1e+18",
                line(f"{sign}{2**63}"),
            )
        self.assert_refused(
            f"t.swf:1: field 1 (number) is {10**19}; it must be below 1e+18",
            line(10**19, wanted="-1e19"),
        )
        (record,) = parse(line(10**17, run="1e30")).records
        self.assertEqual(10**17, record.number)

    def test_infinity_and_what_is_too_large(self):
        self.assert_refused(
            "t.swf:1: field 4 (run) is '-inf'; it must be a number", line(run="-inf")
        )
        for huge in ("9" * 400, "9" * 5000):
            self.assert_refused(
                f"t.swf:1: field 5 (allocated) is {huge!r}; it must be a whole number",
                line(allocated=huge),
            )

    def test_job_number_twice(self):
        self.assert_refused("t.swf:3: job 1 is in line 1 already", line(), "; c", line())

    def test_submit_before_the_beginning(self):
        self.assert_refused(
            "t.swf:1: field 2 (submit) is -4; it must be 0 or more", line(submit=-4)
        )

    @given(st.text(max_size=60).filter(lambda text: text.strip() and text.strip()[0] != ";"))
    def test_garbage_is_refused_with_its_place(self, text):
        error = self.assertRaises(swf.MalformedTrace, parse, line(), text)
        self.assertThat(str(error), testtools.matchers.StartsWith("t.swf:2: "))


class TestFiles(testtools.TestCase):
    def path(self, name):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        return pathlib.Path(directory.name) / name

    def test_gzip_and_latin_1(self):
        path = self.path("t.swf.gz")
        path.write_bytes(gzip.compress(b"; Acknowledge: J\xf6rg\n" + line().encode() + b"\n"))
        trace = swf.read(path)
        self.assertEqual("Jörg", trace.header("Acknowledge"))
        self.assertEqual(1, len(trace.records))

    def test_the_name_does_not_say_whether_it_is_packed(self):
        for name, content in (
            ("packed.swf", gzip.compress(line().encode())),
            ("plain.swf.gz", line().encode()),
        ):
            path = self.path(name)
            path.write_bytes(content)
            self.assertEqual(1, len(swf.read(path).records))

    def test_a_byte_order_mark_is_not_part_of_the_first_line(self):
        for first in ("; MaxProcs: 8", line()):
            plain = codecs.BOM_UTF8 + f"{first}\n{line(number=2)}\n".encode()
            for content in (plain, gzip.compress(plain)):
                path = self.path("t.swf")
                path.write_bytes(content)
                trace = swf.read(path)
                self.assertEqual(2, len(trace.comments) + len(trace.records))
                self.assertEqual(2, trace.records[-1].number)

    def test_broken_gzip_is_a_malformed_trace(self):
        whole = gzip.compress(line().encode() * 50)
        for broken in (whole[:-9], b"not gzip", whole[:30] + bytes(20) + whole[50:]):
            path = self.path("t.swf.gz")
            path.write_bytes(broken)
            self.assertRaises(swf.MalformedTrace, swf.read, path)

    def test_missing_file_is_an_os_error(self):
        self.assertRaises(OSError, swf.read, self.path("none.swf"))

    @given(
        st.lists(COMMENTS, max_size=4),
        st.lists(RECORDS, max_size=8, unique_by=lambda record: record.number),
        st.sampled_from(["t.swf", "t.swf.gz"]),
    )
    def test_what_is_written_is_read_back(self, comments, records, name):
        records.sort(key=lambda record: (record.submit, record.number))
        trace = swf.Trace(tuple(comments), tuple(records))
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / name
            swf.write(path, trace)
            self.assertEqual(trace, swf.read(path))

    def test_written_text(self):
        trace = parse("; MaxProcs: 8", line(7, submit=5, run="60.5"))
        path = self.path("t.swf")
        swf.write(path, trace)
        written = "; MaxProcs: 8\n7 5 0 60.5 4 -1 -1 4 120 -1 1 3 3 -1 -1 -1 -1 -1\n"
        self.assertEqual(written, path.read_text())

    def test_comments_stay_comments(self):
        path = self.path("t.swf")
        swf.write(path, swf.Trace(("a\nb\r\nc", "\u65e5"), ()))
        self.assertEqual(("a b c", "\\u65e5"), swf.read(path).comments)

    def test_packed_files_of_the_same_trace_are_equal(self):
        path = self.path("t.swf.gz")
        swf.write(path, parse(line()))
        first = path.read_bytes()
        self.assertEqual(gzip.decompress(first).decode().split(), line().split())
        swf.write(path, parse(line()))
        self.assertEqual(first, path.read_bytes())
