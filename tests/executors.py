"""Executors that make tests repeatable."""

from concurrent import futures


class OneByOne(futures.Executor):
    """Calls at once, in the caller's thread; what the function raises, `submit` raises."""

    def submit(self, function, *arguments):
        future = futures.Future()
        future.set_result(function(*arguments))
        return future


class Held(futures.Executor):
    """Calls nothing before it is told to `run`."""

    def __init__(self):
        self.waiting = []

    def submit(self, function, *arguments):
        future = futures.Future()
        self.waiting.append((future, function, arguments))
        return future

    def run(self):
        """Make the call that has waited longest."""
        future, function, arguments = self.waiting.pop(0)
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)

    def shutdown(self, *, cancel_futures):
        if cancel_futures:
            for future, _function, _arguments in self.waiting:
                future.cancel()
            self.waiting = []
