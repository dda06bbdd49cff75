"""Turns a trace in the Standard Workload Format into requests for jobs."""

import pathlib

from nova_twotier.client import userdata
from nova_twotier.core.qos import NORMAL
from nova_twotier.sim.workloads import swf


def requests(path: str, prefix: str | None, classes: bool = False) -> tuple[list[dict], int]:
    """A request for each job of a trace, by arrival, and the number of records that are no jobs.

    The servers of each job sleep as long as the job ran, then power themselves off.

    :param prefix: of the jobs' names, before their numbers; None for the name of the file.
    :param classes: whether jobs get the class of service for which their queue stands.
    :raises ValueError: if a record cannot be read, and the message says where; or if no job has a
        class.
    """
    try:
        trace = swf.read(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    if not trace.records:
        raise ValueError(f"{path}: there is no job in it")
    prefix = pathlib.Path(path).name.partition(".")[0] if prefix is None else prefix
    if not classes:
        return [_request(record, prefix) for record in trace.records], trace.left_out
    if not trace.has_classes:
        raise ValueError(f"{path}: {swf.NO_CLASSES}")
    known = trace.classes
    found = [
        _request(record, prefix) | {"qos": str(known.get(record.queue, NORMAL))}
        for record in trace.records
    ]
    return found, trace.left_out


def _request(record: swf.Record, prefix: str) -> dict:
    script, token = f"#!/bin/sh\nsleep {record.run:.16g}\n", userdata.new_token()
    return {
        "size": record.procs,
        "name": f"{prefix}-{record.number}",
        "estimate": record.estimate if record.estimate > 0 else None,
        "user_data": userdata.encoded(userdata.of_script(script.encode(), token)),
        "report_token": token,
    }
