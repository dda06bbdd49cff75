"""Traces of the Parallel Workloads Archive: where they are, and how to tell that they are right."""

import gzip
import hashlib
import http.client
import pathlib
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nova_twotier.sim import whole_file

ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload/"
#: What to cite besides the people whom each trace asks to acknowledge.
CITATION = (
    "D. G. Feitelson, D. Tsafrir and D. Krakov, Experience with using the Parallel Workloads "
    "Archive, J. Parallel and Distributed Computing 74(10), 2014"
)
#: Where `twotier-sim traces fetch` puts them.
DIRECTORY = pathlib.Path("traces")
SCHEMES = ("https", "http", "file")
#: Seconds without an answer.
TIMEOUT = 30
#: Bytes read at a time.
CHUNK = 1 << 16


class ArchiveError(ValueError):
    """A trace that is not known, cannot be had, or is another one; the message is one line."""


class Log(NamedTuple):
    """A trace as the archive has it.

    :param folder: of the archive.
    :param jobs: records with a run time and processors.
    :param size: bytes of the unpacked file.
    :param sha256: of the unpacked file: packing it anew changes the packed one.
    :param acknowledge: whom the file asks to acknowledge.
    :param terms: of use, if it states any.
    """

    name: str
    folder: str
    computer: str
    jobs: int
    processors: int
    size: int
    sha256: str
    acknowledge: str
    terms: str = ""

    @property
    def file(self) -> str:
        return f"{self.name}.swf.gz"

    @property
    def url(self) -> str:
        return f"{ARCHIVE}{self.folder}/{self.file}"


#: The checksums are those of the copies that the results in doc/simulator/ were computed from.
LOGS = {
    log.name: log
    for log in (
        Log(
            "KTH-SP2-1996-2",
            "l_kth_sp2",
            "IBM SP2, Royal Institute of Technology, Stockholm; not cleaned",
            28_489,
            100,
            2_621_562,
            "df76b94e5f670db52179688a98deec3e1887d10adb39f96c900b8e92abb386ab",
            "Lars Malinowsky",
        ),
        Log(
            "KTH-SP2-1996-2.1-cln",
            "l_kth_sp2",
            "IBM SP2, Royal Institute of Technology, Stockholm",
            28_475,
            100,
            2_620_495,
            "fba36494c4e4257f72182e8b629ebb0bcb054b3b82851ef957445bd627adcc87",
            "Lars Malinowsky",
        ),
        Log(
            "CTC-SP2-1996-3.1-cln",
            "l_ctc_sp2",
            "IBM SP2, Cornell Theory Center",
            77_222,
            338,
            7_167_987,
            "8e33a9b597e1ddda2d2164347bac08c9444e1a2620a7947df52f0a1622ec4cde",
            "Dan Dwyer and Steve Hotovy",
        ),
        Log(
            "SDSC-SP2-1998-4.2-cln",
            "l_sdsc_sp2",
            "IBM SP2, San Diego Supercomputer Center",
            54_044,
            128,
            5_601_165,
            "2bb635f4b5793f52bd49ccb8fd913d95f9c5be6346925162cadcaf0117e28cf2",
            "Victor Hazlewood",
            "Copyright 2000 The Regents of the University of California; for educational, research "
            "and non-profit purposes, with the copyright notice in the file",
        ),
        Log(
            "LANL-CM5-1994-4.1-cln",
            "l_lanl_cm5",
            "Thinking Machines CM-5, Los Alamos National Laboratory",
            122_057,
            1024,
            11_354_840,
            "4766a62dabcc7403ec0a55534aff297203e692ddbf6637bd40100a3800f6354a",
            "Curt Canada",
        ),
        Log(
            "NASA-iPSC-1993-3.1-cln",
            "l_nasa_ipsc",
            "Intel iPSC/860, NASA Ames Research Center",
            18_239,
            128,
            1_678_956,
            "9d997a2c20a7f7b0b6d81638d756ce8b2c524c4f2e9ec78da36001743ca33d76",
            "Bill Nitzberg",
        ),
    )
}


def get(name: str) -> Log:
    """:raises ArchiveError: if no trace of that name is known."""
    if name not in LOGS:
        raise ArchiveError(f"there is no trace {name!r}; choose one of: {', '.join(LOGS)}")
    return LOGS[name]


def named(path: pathlib.Path) -> Log | None:
    """The trace that a file is called after."""
    return LOGS.get(path.name.removesuffix(".gz").removesuffix(".swf"))


def check(path: pathlib.Path, log: Log) -> None:
    """Compare a file, packed or not, with the trace.

    :raises ArchiveError: if it is another, or damaged.
    :raises OSError: if it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            packed = file.peek(2)[:2] == b"\x1f\x8b"
            with gzip.open(file) if packed else file as stream:
                while chunk := stream.read(CHUNK):
                    digest.update(chunk)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ArchiveError(f"{path}: is damaged or incomplete ({error})") from error
    if digest.hexdigest() != log.sha256:
        raise ArchiveError(
            f"{path}: is not {log.name} as it was used here: unpacked, its SHA-256 is "
            f"{digest.hexdigest()}, not {log.sha256}"
        )


def fetch(
    log: Log,
    directory: pathlib.Path,
    mirror: str | None = None,
    progress: Callable[[int], object] = lambda received: None,
) -> pathlib.Path:
    """Download a trace, and keep the file only if its checksum is right.

    :param mirror: directory, or its URL, that has the file; the archive by default.
    :param progress: called with the bytes that have come since the last call.
    :raises ArchiveError: if it cannot be had, or is not what it should be.
    :raises OSError: if it cannot be written.
    """
    url = log.url if mirror is None else _within(mirror, log.file)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / log.file
    with whole_file.replacing(path) as part, part.open("wb") as file:
        # Packed, it is smaller than unpacked, but for the smallest.
        for chunk in _download(url, log.size + CHUNK, directory):
            file.write(chunk)
            progress(len(chunk))
        file.flush()
        try:
            check(part, log)
        except ArchiveError as error:
            raise ArchiveError(f"{url}{str(error).removeprefix(str(part))}") from error
    return path


def _within(mirror: str, file: str) -> str:
    """The URL of a file in a directory or below a URL.

    :raises ArchiveError: if it is neither.
    """
    scheme = urllib.parse.urlsplit(mirror).scheme
    if not scheme:
        return f"{pathlib.Path(mirror).resolve().as_uri()}/{file}"
    if scheme not in SCHEMES:
        raise ArchiveError(f"{mirror}: a mirror is a directory, or a URL of {', '.join(SCHEMES)}")
    return f"{mirror.rstrip('/')}/{file}"


def _download(url: str, limit: int, directory: pathlib.Path) -> Iterator[bytes]:
    """Download a URL, in chunks, if it has no more bytes than the limit.

    :param directory: where to put it if it cannot be fetched from here.
    """
    left = limit
    try:
        # Only schemes of `SCHEMES` come here.
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:  # noqa: S310  # nosec B310
            while left >= 0 and (chunk := answer.read(CHUNK)):
                left -= len(chunk)
                yield chunk
    except (OSError, http.client.HTTPException) as error:
        raise ArchiveError(
            f"{url} cannot be fetched: {_reason(error)}; you may also download it elsewhere "
            f"and put it into {directory}"
        ) from error
    if left < 0:
        raise ArchiveError(f"{url}: is larger than the trace; nothing was kept")


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    words = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
    return words or type(reason).__name__
