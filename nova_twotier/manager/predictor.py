"""A process that predicts: `python -m nova_twotier.manager.predictor ESTIMATOR`.

A forward run of a long queue keeps an interpreter busy for up to a second. In a thread of the
manager it would slow each poll down meanwhile, since threads share one interpreter. Questions come
on the standard input and answers go to the standard output, both pickled; it ends with its input,
so also when the manager is killed.
"""

import contextlib
import os
import pickle  # nosec B403
import signal
import subprocess
import sys
import threading
from collections import deque

from nova_twotier.core import prediction
from nova_twotier.core.prediction.present import Past
from nova_twotier.core.prediction.questions import Answer, Question, answer

#: Past jobs of which a new process is told.
KEEP = 1000
#: Seconds after which a process that has not answered never will.
LONGEST = 120.0
#: What it is slower by than the manager's polls, if both want the same CPU.
NICE = 10


class NoAnswer(Exception):
    """A question was not answered; the message says why."""


class Predictor:
    """Asks a process of its own, which is begun when it is needed, and anew after it has failed.

    Not for use by several threads at once; only `stop` may be called from another.

    :param estimator: its name.
    """

    def __init__(self, estimator: str):
        self._estimator = estimator
        self._process: subprocess.Popen | None = None
        self._past: deque[Past] = deque(maxlen=KEEP)
        self._stopped = False

    def ask(self, question: Question) -> Answer:
        """
        :raises NoAnswer: if there is none. What has ended is remembered for the next question.
        """
        self._past.extend(question.ended)
        if self._process is None:
            # A new process knows nothing.
            question = question._replace(ended=list(self._past))
        try:
            answered = self._exchange(question)
        except (OSError, EOFError, pickle.PickleError) as error:
            self.close()
            raise NoAnswer(f"the predicting process has failed: {error!r}") from error
        if isinstance(answered, str):
            self.close()
            raise NoAnswer(answered)
        return answered

    def stop(self) -> None:
        """Stop answering, and give up the question under way."""
        self._stopped = True
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the process; no question may be under way."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was not written is lost
                    stream.close()

    def _exchange(self, question: Question) -> Answer | str:
        process = self._process = self._process or self._begin()
        if self._stopped or process.stdin is None or process.stdout is None:
            raise EOFError("it was stopped")
        # Not only while an answer is waited for: one that hangs reads no question, or half of one.
        late = threading.Event()
        watch = threading.Timer(LONGEST, _end_late, (process, late))
        watch.start()
        try:
            # Written at once: pickling in small steps would wait for the interpreter at each.
            process.stdin.write(pickle.dumps(question))
            process.stdin.flush()
            return pickle.load(process.stdout)  # noqa: S301  # nosec B301
        except (OSError, EOFError, pickle.PickleError) as error:
            if late.is_set():
                raise EOFError(f"no answer within {LONGEST:g} s") from error
            raise
        finally:
            watch.cancel()

    def _begin(self) -> subprocess.Popen:
        # -P: not from the working directory, in which others may write.
        command = [sys.executable, "-P", "-m", Predictor.__module__, self._estimator]
        return subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )


def _end_late(process: subprocess.Popen, late: threading.Event) -> None:
    late.set()
    process.kill()


def serve(name: str) -> None:
    """Answer questions until the input ends."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # Ctrl-C in the manager's terminal is the manager's business.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    estimator = prediction.get(name)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            question = pickle.load(source)  # noqa: S301  # nosec B301
        except EOFError:
            return
        answered: Answer | str
        try:
            answered = answer(estimator, question)
        except Exception as error:
            answered = f"{type(error).__name__}: {error}"
        sink.write(pickle.dumps(answered))
        sink.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
