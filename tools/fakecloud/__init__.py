"""A fake-driver OpenStack cloud for one small machine: command, Python API and pytest fixture."""

import importlib

_EXPORTS = {"FakeCloud": "cloud", "Settings": "settings", "FakeCloudError": "errors"}

__all__ = sorted(_EXPORTS)


def __getattr__(name):
    # Lazy: the children import this package before Nova may load anything else.
    try:
        module = _EXPORTS[name]
    except KeyError:
        raise AttributeError(name) from None
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
