"""What is logged while a test runs."""

import logging

import fixtures


class EverythingLogged(fixtures.Fixture):
    """All that is logged, down to DEBUG, in `output`, whatever levels were set for libraries."""

    def _setUp(self):
        logger = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        for name in list(logging.root.manager.loggerDict):
            library = logging.getLogger(name)
            if library.level and not name.startswith("nova_twotier"):
                self.addCleanup(library.setLevel, library.level)
                library.setLevel(logging.NOTSET)
        self._logger = logger

    @property
    def output(self) -> str:
        return self._logger.output
