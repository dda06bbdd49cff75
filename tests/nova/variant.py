"""How this process runs Nova's tests: what they need outside Nova's tree, and the plugin or not."""

import pathlib
import sys

from nova.api.validation.extra_specs import validators
from nova.scheduler import host_manager
from nova.tests.fixtures import conf as conf_fixture
from oslo_config import cfg

from nova_twotier import filters
from tests.nova_threads import SILENT_SERVICES

API_PASTE = pathlib.Path(sys.prefix, "etc/nova/api-paste.ini")
CONF = cfg.CONF


def outside_the_tree():
    """Let Nova's tests find what a wheel installs elsewhere, and bear newer libraries."""
    from nova.tests import fixtures as nova_fixtures

    from tests.functional.base import QuietWarnings

    nova_fixtures.WarningsFixture = QuietWarnings
    original = conf_fixture.ConfFixture.setUp

    def set_up(fixture):
        original(fixture)
        CONF.set_default("api_paste_config", str(API_PASTE), group="wsgi")
        for option, value in SILENT_SERVICES.items():
            CONF.set_default(option, value)

    conf_fixture.ConfFixture.setUp = set_up


def without_plugin():
    """Take out the one thing that installing the plugin puts into Nova: its extra specs."""
    for name in [name for name in validators.VALIDATORS if name.startswith("twotier")]:
        del validators.VALIDATORS[name]
    validators.NAMESPACES.discard("twotier")


def with_plugin() -> dict[str, int]:
    """Add our filters and weighers to those that a test enables, whenever a scheduler starts.

    :returns: how often each of our filters is asked, counted on.
    """
    asked = {cls.__name__: 0 for cls in filters.all_filters()}
    for cls in filters.all_filters():
        _count(cls, asked)
    original = host_manager.HostManager.__init__

    def init(manager):
        _add("available_filters", ["nova_twotier.filters.all_filters"])
        _add("enabled_filters", list(asked))
        _add("weight_classes", ["nova_twotier.weighers.all_weighers"])
        original(manager)

    host_manager.HostManager.__init__ = init
    return asked


def _add(option, values):
    present = list(CONF.filter_scheduler[option])
    new = [*present, *(value for value in values if value not in present)]
    CONF.set_override(option, new, group="filter_scheduler")


def _count(cls, asked):
    original = cls.filter_all

    def filter_all(self, filter_obj_list, spec_obj):
        asked[cls.__name__] += 1
        return original(self, filter_obj_list, spec_obj)

    cls.filter_all = filter_all
