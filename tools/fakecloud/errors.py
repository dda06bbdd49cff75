"""The exceptions of the fake cloud: their text is the line that the user reads."""


class FakeCloudError(Exception):
    """Something that the user can fix; says what to do."""


class UsageError(FakeCloudError):
    """A parameter that no cloud can have."""


class NotUp(FakeCloudError):
    """The command needs a running cloud."""
