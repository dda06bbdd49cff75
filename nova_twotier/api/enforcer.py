"""Enforces the API's access rules; operators may change the policy file while the API runs."""

import os
import threading
from collections.abc import Sequence

from oslo_config import cfg
from oslo_log import log as logging
from oslo_policy import policy

from nova_twotier.api import references, rule_texts

LOG = logging.getLogger(__name__)


class Enforcer(policy.Enforcer):
    """Keeps the last good rules in force while the policy files are wrong.

    oslo.policy reads files that have changed at the next request. It would fail at a file that
    cannot be read, and put rules into force that refer to each other in a circle, at which it
    fails, or that it does not understand. As the rules from before stay, one wrong line takes no
    right from anybody, and gives none.

    :param rules: the defaults.
    :raises ValueError: if the files are wrong from the beginning.
    """

    def __init__(self, conf: cfg.ConfigOpts, rules: Sequence[policy.RuleDefault]):
        super().__init__(conf)
        self.register_defaults(rules)
        #: What the files say now, right or wrong.
        self._read = policy.Enforcer(conf)
        self._read.register_defaults(rules)
        #: The last rules that were looked through; oslo.policy makes new ones when a file changes.
        self._judged: policy.Rules | None = None
        #: What tells the policy file that was read from another one; None before that.
        self._file: tuple[int, int, int] | None = None
        self._reading = threading.Lock()
        self._wrong: str | None = None
        if wrong := self._reread():
            raise ValueError(wrong)

    def load_rules(self, force_reload: bool = False) -> None:
        """Put the rules of changed policy files into force, or log once what is wrong in them."""
        with self._reading:
            before, self._wrong = self._wrong, self._reread(force_reload)
            if self._wrong == before:
                return
            if self._wrong is None:
                LOG.info("The rules of policy file %s are in force again", self.policy_file)
            else:
                LOG.error(
                    "The rules from before the last change stay in force: policy file %s: %s",
                    self.policy_file,
                    self._wrong,
                )

    def _reread(self, force_reload: bool = False) -> str | None:
        """Read the policy files if they have changed; returns the first mistake, or None."""
        try:
            changed, text = self._look()
            self._read.load_rules(force_reload or changed)
            if self._read.rules is self._judged:
                # A file that oslo.policy has failed at it reads again only after the next change.
                return self._wrong
            if not policy.parse_file_contents(text).keys() <= self._read.file_rules.keys():
                self._file = None
                raise OSError(f"{self._read.policy_path} could not be read whole")
            wrong = rule_texts.mistake(self._read.file_rules)
            wrong = wrong or references.mistake(self._read.rules)
        except (ValueError, OSError, cfg.Error) as error:
            wrong = " ".join(str(error).split())
        except (AttributeError, TypeError) as error:
            # oslo.policy does not check what is in the file.
            wrong = f"a rule is a name and a text ({error})"
        self._judged = self._read.rules
        if wrong is None:
            self.rules, self.file_rules = self._read.rules, self._read.file_rules
        return wrong

    def _look(self) -> tuple[bool, str]:
        """Check whether the policy file has changed since the last check, and read it if so.

        oslo.policy would take a file that it cannot open for an empty one.

        :returns: whether it has changed, and its text; empty if it has not.
        :raises OSError: if it has disappeared, or cannot be opened.
        """
        path = self._read.policy_path
        if not path:  # there is none, or it is not looked for yet
            return False, ""
        before, self._file = self._file, None
        with open(path) as file:
            found = os.fstat(file.fileno())
            self._file = found.st_ino, found.st_size, found.st_mtime_ns
            return (True, file.read()) if self._file != before else (False, "")
