"""The configuration that the documentation shows has options that there are, and loads."""

import configparser
import pathlib

import fixtures
import testtools
from keystoneauth1 import loading
from keystonemiddleware.auth_token import _opts as authtoken
from oslo_log import _options as log
from oslo_middleware import opts as middleware

from nova_twotier import conf as config
from tests.documented.pages import PAGES, ROOT, blocks

#: Sections of others' files.
FOREIGN = {"compute", "federation"}


def shown(page):
    """The files in a page's blocks, parsed."""
    for block in blocks(page.read_text()):
        # The first line of DevStack's sections is not of the file.
        lines = [line for line in block.text.splitlines() if not line.startswith("[[")]
        if block.language == "ini":
            parser = configparser.ConfigParser(interpolation=None)
            parser.read_string("\n".join(lines))
            yield block, parser


class TestFiles(testtools.TestCase):
    def test_every_option_is_there(self):
        known = set()
        for each in (config, authtoken, log, middleware):
            for group, options in each.list_opts():
                name = getattr(group, "name", group) or "DEFAULT"
                known |= {(name, option.dest) for option in options}
        # keystoneauth's, which [keystone_authtoken] takes, too.
        known |= {("keystone_authtoken", option) for group, option in known if group == "nova"}
        count = 0
        for page in PAGES:
            for block, parser in shown(page):
                for section in {"DEFAULT", *parser.sections()} - FOREIGN:
                    for option in parser[section]:
                        if option in parser.defaults() and section != "DEFAULT":
                            continue
                        where = f"{page.relative_to(ROOT)}:{block.line}"
                        self.assertIn((section, option), known, where)
                        count += 1
        self.assertGreater(count, 30)

    def test_that_of_the_installation_loads(self):
        [(block, _parser)] = shown(ROOT / "doc/install.md")
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / "nova-twotier.conf"
        path.write_text(block.text)
        conf = config.load(["--config-file", str(path)], "twotier-api")
        self.assertEqual("keystone", conf.api.auth_strategy)
        self.assertEqual("job.slot", conf.manager.flavor)
        for section in ("nova", "placement"):
            auth = loading.load_auth_from_conf_options(conf, section)
            self.assertEqual("http://CONTROLLER:5000", auth.auth_url)
