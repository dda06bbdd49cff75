"""The one exception of the fake cloud: its text is the line the user reads."""


class FakeCloudError(Exception):
    """Something the user can put right; says what to do."""


class UsageError(FakeCloudError):
    """A parameter that no cloud can have."""


class NotUp(FakeCloudError):
    """The command needs a running cloud."""
