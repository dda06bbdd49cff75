"""Who may do what: every operation, every persona."""

import errno
import itertools
import os
import time
from unittest import mock

from nova_twotier.api.routes import operations
from nova_twotier.conf import ConfigError
from nova_twotier.core.reasons import Effect, changes
from nova_twotier.db import drains
from nova_twotier.db.arrays import Tasks
from nova_twotier.db.states import JobState
from tests.unit.api.case import OTHER, ApiCase

#: Who may, of those that belong to the job's project, and of those that do not.
READER, MEMBER, MANAGER, ADMIN, SERVICE = "reader", "member", "manager", "admin", "service"
INSIDE = (READER, MEMBER, MANAGER, ADMIN)
OUTSIDE = (ADMIN, SERVICE)

JOB = "/v1/jobs/{uuid}"
ARRAY = "/v1/arrays/{array}"
#: Roles that may, in the job's own project and in another one.
MAY = {
    ("get", "/v1/jobs"): (INSIDE, None),
    ("post", "/v1/jobs"): ((MEMBER, MANAGER, ADMIN), None),
    ("post", "/v1/jobs/cancel"): ((MEMBER, MANAGER, ADMIN), None),
    ("get", JOB): (INSIDE, OUTSIDE),
    ("delete", JOB): ((MEMBER, MANAGER, ADMIN), (ADMIN,)),
    ("get", f"{JOB}/explain"): (INSIDE, OUTSIDE),
    ("post", f"{JOB}/complete"): ((MEMBER, MANAGER, ADMIN), (ADMIN,)),
    ("post", f"{JOB}/hold"): ((MEMBER, MANAGER, ADMIN), (ADMIN,)),
    ("post", f"{JOB}/release"): ((MEMBER, MANAGER, ADMIN), (ADMIN,)),
    ("post", f"{JOB}/requeue"): ((MEMBER, MANAGER, ADMIN), (ADMIN,)),
    ("patch", JOB): ((MEMBER, MANAGER, ADMIN), (ADMIN,)),
    ("post", "/v1/arrays"): ((MEMBER, MANAGER, ADMIN), None),
    ("get", ARRAY): (INSIDE, OUTSIDE),
    ("patch", ARRAY): ((MEMBER, MANAGER, ADMIN), (ADMIN,)),
    ("post", f"{ARRAY}/actions"): ((MEMBER, MANAGER, ADMIN), (ADMIN,)),
    ("get", "/v1/queue"): (INSIDE, None),
    ("get", "/v1/queue/jobs"): (INSIDE, None),
    ("patch", "/v1/queue"): ((ADMIN,), None),
    ("get", "/v1/pools"): ((*INSIDE, SERVICE), None),
    ("get", "/v1/schedule"): (INSIDE, None),
    ("get", "/v1/hosts"): ((*INSIDE, SERVICE), None),
    ("post", "/v1/hosts/drain"): ((ADMIN,), None),
    ("post", "/v1/hosts/undrain"): ((ADMIN,), None),
    ("get", "/v1/topology"): ((ADMIN, SERVICE), None),
    ("get", "/v1/events"): (INSIDE, None),
    ("get", "/v1/usage"): (INSIDE, None),
    ("get", "/v1/utilisation"): ((*INSIDE, SERVICE), None),
}
#: They are of the ledger; there is none here.
LEDGER = ("/v1/pools", "/v1/hosts", "/v1/hosts/drain", "/v1/topology")
LISTS = ("/v1/jobs", "/v1/queue", "/v1/queue/jobs", "/v1/events", "/v1/usage")
BODIES = {
    ("post", "/v1/jobs"): {"size": 1},
    ("post", "/v1/jobs/cancel"): {"all": True},
    ("patch", "/v1/queue"): {"mode": "paused"},
    ("patch", JOB): {"name": "mine"},
    ("post", "/v1/arrays"): {"size": 1, "indexes": "0-1"},
    ("patch", ARRAY): {"most_at_once": 2},
    ("post", f"{ARRAY}/actions"): {"action": "cancel"},
    ("post", "/v1/hosts/drain"): {"host": "a"},
    ("post", "/v1/hosts/undrain"): {"host": "a"},
}


class TestPersonas(ApiCase):
    def status(self, method, path, token):
        """The status of an operation on a job of alice's."""
        job = self.submit()
        self.change(job, state=JobState.RUNNING)
        drains.drain(self.store, "a", time.time())
        body = {"json": BODIES[method, path]} if (method, path) in BODIES else {}
        path = path.replace("{uuid}", job["uuid"])
        if path.startswith(ARRAY):
            array = self.store.submit(1, [], project_id="demo", tasks=Tasks("0-1"))
            path = path.replace("{array}", str(array.number))
        return self.ask(method.upper(), path, token, **body).status_code

    def test_every_operation_is_in_the_table(self):
        found = {(method, path) for path, method, operation in operations() if operation.rule}
        self.assertEqual(set(MAY), found)

    def test_in_the_project(self):
        for (method, path), (roles, _outside) in MAY.items():
            for role in (READER, MEMBER, MANAGER, ADMIN, SERVICE):
                status = self.status(method, path, f"carol:demo:{role}")
                allowed = status == 503 if path in LEDGER else status in (200, 201, 202)
                if role == SERVICE and path not in LEDGER:
                    self.assertEqual(method == "get", allowed, (method, path, role, status))
                else:
                    self.assertEqual(role in roles, allowed, (method, path, role, status))
                if not allowed:
                    self.assertEqual(403, status, (method, path, role))

    def test_in_another_project(self):
        for (method, path), (_inside, roles) in MAY.items():
            for role in (READER, MEMBER, MANAGER, ADMIN, SERVICE) if roles else ():
                status = self.status(method, path, f"mallory:other:{role}")
                expected = (200, 202) if role in roles else (403,) if role == SERVICE else (404,)
                self.assertIn(status, expected, (method, path, role))

    def test_without_a_role(self):
        for method, path in MAY:
            # Who may not even see a job is not told that there is one.
            expected = 404 if "{" in path else 403
            self.assertEqual(expected, self.status(method, path, "carol:demo:none"), (method, path))

    def test_no_cache_gives_an_answer_to_others(self):
        job = self.submit()
        for version in ("1.0", "1.1"):
            headers = {"OpenStack-API-Version": f"twotier {version}"}
            for method, path in MAY:
                path = path.replace("{uuid}", job["uuid"])
                answer = self.ask(method.upper(), path, "carol:demo:reader", headers=headers)
                self.assertEqual("private, no-cache", answer.headers["cache-control"], path)
                self.assertIn("X-Auth-Token", answer.headers["vary"])
        for path in ("/v1", "/v1/openapi.json"):
            self.assertNotIn("cache-control", self.get(path).headers)

    def test_all_projects(self):
        for path in LISTS:
            for role in (READER, MEMBER, MANAGER):
                answer = self.get(f"{path}?all_projects=true", f"carol:demo:{role}")
                self.refused(403, "request.forbidden", answer)
            for role in OUTSIDE:
                self.answered(200, self.get(f"{path}?all_projects=true", f"carol:demo:{role}"))


class TestOtherProjects(ApiCase):
    """Nothing tells whether another project's job exists."""

    def setUp(self):
        super().setUp()
        self.theirs = self.submit("bob:other", name="secret")
        self.mine = self.submit(name="mine")

    def test_not_found_is_the_same_for_all(self):
        for method, suffix in (
            ("GET", ""),
            ("GET", "/explain"),
            ("DELETE", ""),
            ("POST", "/hold"),
            ("POST", "/release"),
            ("POST", "/requeue"),
            ("POST", "/complete"),
        ):
            answers = []
            for uuid in (self.theirs["uuid"], OTHER):
                answer = self.ask(method, f"/v1/jobs/{uuid}{suffix}")
                [error] = self.answered(404, answer)["errors"]
                del error["request_id"]
                answers.append(error)
            self.assertEqual(*answers)
        kept = self.store.find(self.theirs["uuid"])
        self.assertEqual((None, False), (kept.requested_action, kept.held))

    def test_lists(self):
        for path in ("/v1/jobs", "/v1/jobs?name=secret", "/v1/events", "/v1/queue"):
            answer = self.get(path)
            self.answered(200, answer)
            for hidden in ("secret", "other", "bob", self.theirs["uuid"]):
                self.assertNotIn(hidden, answer.text, path)
        self.assertEqual(["mine"], [job["name"] for job in self.get("/v1/jobs").json["jobs"]])

    def test_a_manager_learns_of_no_host_and_of_no_other_project(self):
        number = self.store.find(self.theirs["uuid"]).number
        reason = changes.PREEMPTED(number).led_to(Effect.SAVED)
        self.change(self.mine, reason=reason)
        self.happen(self.mine, "evicted", reason=reason)
        self.happen(self.theirs, "started", "on compute-7")
        self.happen(None, "host down", "compute-7")
        self.hold_slot(self.mine, 0, host="compute-7")
        path = f"/v1/jobs/{self.mine['uuid']}"
        shown = [
            self.get(each, "carol:demo:manager")
            for each in (path, f"{path}/explain", "/v1/jobs", "/v1/events", "/v1/queue")
        ]
        for answer in shown:
            self.answered(200, answer)
            for hidden in ("compute-7", "secret", "bob", self.theirs["uuid"], f"job {number}"):
                self.assertNotIn(hidden, answer.text)
        for answer in shown[:4]:
            self.assertIn("by a job of another project", answer.text)
        self.refused(403, "request.forbidden", self.get("/v1/topology", "carol:demo:manager"))

    def test_markers_and_filters(self):
        answers = [
            self.get(f"/v1/jobs?marker={uuid}").json["errors"][0]["detail"]
            for uuid in (self.theirs["uuid"], OTHER)
        ]
        self.assertEqual(*answers)
        for uuid in (self.theirs["uuid"], OTHER):
            self.refused(404, "job.not_found", self.get(f"/v1/events?job={uuid}"))

    def test_administrators_see_all(self):
        jobs = self.get("/v1/jobs?all_projects=true", "admin").json["jobs"]
        self.assertEqual(["secret", "mine"], [job["name"] for job in jobs])
        self.assertEqual([], self.get("/v1/jobs", "admin").json["jobs"])


class TestRolesThatAreNeeded(ApiCase):
    """A refusal says which role would do."""

    def refusal(self, method, path, by, **rest):
        [detail] = self.refused(403, "request.forbidden", self.ask(method, path, by, **rest))
        return detail

    def test_in_the_project(self):
        path = f"/v1/jobs/{self.submit()['uuid']}"
        for method, url, rule, role in (
            ("POST", "/v1/jobs", "jobs:create", "member"),
            ("DELETE", path, "jobs:cancel", "member"),
            ("POST", "/v1/jobs/cancel", "jobs:cancel_many", "member"),
            ("GET", "/v1/jobs", "jobs:list", "reader"),
        ):
            by = "carol:demo:reader" if role == "member" else "carol:demo:none"
            self.assertEqual(
                f"this needs the role {role} in the project (policy rule twotier:{rule})",
                self.refusal(method, url, by, json={"size": 1} if method == "POST" else None),
            )

    def test_in_all_projects(self):
        for method, url, rule, whose in (
            ("PATCH", "/v1/queue", "queue:update", "admin"),
            ("GET", "/v1/topology", "topology:show", "admin, service or system-wide reader"),
            (
                "GET",
                "/v1/jobs?all_projects=true",
                "jobs:list:all_projects",
                "admin, service or system-wide reader",
            ),
        ):
            self.assertEqual(
                f"this needs the role {whose} (policy rule twotier:{rule})",
                self.refusal(method, url, "alice:demo"),
            )


class TestPolicyFile(ApiCase):
    def make(self):
        (self.directory / "policy.yaml").write_text(
            '"twotier:jobs:cancel": "user_id:%(user_id)s"\n"twotier:hosts:list": "!"\n'
            '"hpc": "role:hpc or role:mpi"\n'
            '"twotier:jobs:create": "rule:hpc and project_id:%(project_id)s"\n'
            '"twotier:jobs:hold": "role:member and not role:guest"\n'
            '"twotier:jobs:show:hosts": "rule:twotier:project_member"\n'
        )
        self.OPTIONS = f"[oslo_policy]\npolicy_file = {self.directory}/policy.yaml"
        return super().make()

    def test_the_operators_rules_hold(self):
        path = f"/v1/jobs/{self.submit('alice:demo:hpc,member')['uuid']}"
        self.refused(403, "request.forbidden", self.ask("DELETE", path, "carol:demo"))
        self.answered(202, self.ask("DELETE", path, "alice:demo"))
        self.refused(403, "request.forbidden", self.get("/v1/hosts", "admin"))

    def test_the_roles_of_the_operators_rules_are_named(self):
        answer = self.ask("POST", "/v1/jobs", json={"size": 1})
        self.assertEqual(
            ["this needs the role hpc or mpi in the project (policy rule twotier:jobs:create)"],
            self.refused(403, "request.forbidden", answer),
        )

    def test_rules_about_something_else_are_not_told(self):
        path = f"/v1/jobs/{self.submit('alice:demo:hpc,member')['uuid']}"
        for method, url, rule in (
            ("DELETE", path, "cancel"),
            ("POST", f"{path}/hold", "hold"),
        ):
            answer = self.ask(method, url, "carol:demo:reader")
            [detail] = self.refused(403, "request.forbidden", answer)
            self.assertEqual(
                f"the policy rule twotier:jobs:{rule} does not let you do this; ask your operator",
                detail,
            )

    def test_hosts_of_servers_for_the_project(self):
        job = self.submit("alice:demo:hpc,member")
        self.hold_slot(job, 0, host="compute-7")
        [server] = self.get(f"/v1/jobs/{job['uuid']}").json["servers"]
        self.assertEqual("compute-7", server["host"])


class TestChangedPolicyFile(ApiCase):
    """The operator changes the policy file while the API runs."""

    GOOD = '"twotier:jobs:list": "role:manager"'
    OTHER = '"twotier:jobs:list": "not role:manager"'
    CIRCLE = '"twotier:jobs:list": "rule:mine"\n"mine": "not rule:twotier:jobs:list"'

    def make(self):
        self.path = self.directory / "policy.yaml"
        self.more = self.directory / "policy.d"
        self.more.mkdir()
        os.utime(self.more, (0, 0))
        self.OPTIONS = f"[oslo_policy]\npolicy_file = {self.path}\npolicy_dirs = {self.more}"
        self.written = 0
        self.write(self.GOOD)
        return super().make()

    def write(self, text, path=None):
        path = path or self.path
        path.write_bytes(text.encode("latin-1"))
        self.written += 1
        # oslo.policy reads a file again if it is newer, and files of one instant are not.
        for each in (path, path.parent):
            os.utime(each, (self.written, self.written))

    def statuses(self):
        """What a manager and a member are answered, each twice."""
        return {
            role: {self.get("/v1/jobs", f"carol:demo:{role}").status_code for _ in range(2)}
            for role in ("manager", "member")
        }

    def test_the_last_good_rules_stay(self):
        for text, words in (
            (self.CIRCLE, "in a circle: twotier:jobs:list -> mine -> twotier:jobs:list"),
            ('"twotier:jobs:list": "rule:nobody"', "refers to the rule nobody, which does not"),
            ("{", "while parsing"),
            ("- a list", "a rule is a name and a text"),
            ('"twotier:jobs:list": 5', "a rule is a name and a text"),
            ("\xff", "can't decode byte"),
            ('"twotier:jobs:list": "role:a and"', "twotier:jobs:list: 'role:a and' cannot be"),
            ('"twotier:jobs:list": "not manager"', "twotier:jobs:list: 'not manager' cannot be"),
        ):
            self.write(text)
            self.assertEqual({"manager": {200}, "member": {403}}, self.statuses(), text)
            said = f"stay in force: policy file {self.path}: "
            [line] = [line for line in self.logged.output.splitlines() if said in line]
            self.assertIn(words, line)
            self.logged.reset_output()
            self.write(self.OTHER)
            self.assertEqual({"manager": {403}, "member": {200}}, self.statuses(), text)
            self.assertEqual(1, self.logged.output.count("are in force again"))
            self.write(self.GOOD)
            self.assertEqual({"manager": {200}, "member": {403}}, self.statuses(), text)
            self.logged.reset_output()

    def test_a_wrong_file_in_a_directory(self):
        """One wrong file keeps the rules of the other files from coming into force, too."""
        one = self.more / "1.yaml"
        self.write(self.OTHER, one)
        self.assertEqual({"manager": {403}, "member": {200}}, self.statuses())
        self.write("{", one)
        self.assertEqual({"manager": {403}, "member": {200}}, self.statuses())
        self.assertEqual(1, self.logged.output.count("stay in force"))
        one.unlink()
        self.written += 1
        os.utime(self.more, (self.written, self.written))
        self.assertEqual({"manager": {200}, "member": {403}}, self.statuses())

    def test_a_file_that_disappears(self):
        """The policy file is moved away, and later back."""
        elsewhere = self.directory / "elsewhere.yaml"
        self.path.rename(elsewhere)
        self.assertEqual({"manager": {200}, "member": {403}}, self.statuses())
        said = f"stay in force: policy file {self.path}: [Errno 2] No such file"
        self.assertEqual(1, self.logged.output.count(said))
        self.assertNotIn("Config file not found", self.logged.output)
        elsewhere.rename(self.path)
        self.assertEqual({"manager": {200}, "member": {403}}, self.statuses())
        self.assertEqual(1, self.logged.output.count("are in force again"))

    def test_a_file_that_disappears_while_it_is_read(self):
        self.write(self.OTHER)
        exists = os.path.getmtime

        def disappear(path):
            if path == str(self.path):
                self.path.unlink(missing_ok=True)
            return exists(path)

        with mock.patch("os.path.getmtime", disappear):
            self.assertEqual({"manager": {200}, "member": {403}}, self.statuses())

    def test_a_directory_takes_its_place(self):
        elsewhere = self.directory / "elsewhere.yaml"
        self.path.rename(elsewhere)
        self.path.mkdir()
        self.assertEqual({"manager": {200}, "member": {403}}, self.statuses())
        self.assertIn("[Errno 21] Is a directory", self.logged.output)
        self.path.rmdir()
        elsewhere.rename(self.path)
        self.assertEqual({"manager": {200}, "member": {403}}, self.statuses())

    def test_a_file_that_cannot_be_opened_for_a_moment(self):
        """For example, because the process has too many open files."""
        for failing in (0, 1):
            self.write(self.OTHER if failing else self.GOOD)
            opened = itertools.count()

            def fail(path, *args, at=failing, opened=opened, open=open, **options):
                if path == str(self.path) and next(opened) == at:
                    raise OSError(errno.EMFILE, "Too many open files")
                return open(path, *args, **options)

            with mock.patch("builtins.open", fail):
                self.assertEqual(403, self.get("/v1/jobs", "carol:demo:member").status_code)
        self.assertEqual({"manager": {403}, "member": {200}}, self.statuses())

    def test_an_older_file_takes_its_place(self):
        """For example, a backup of the policy file is put back."""
        copy = self.directory / "policy.yaml.bak"
        self.write(self.OTHER, copy)
        self.write(self.GOOD)
        self.assertEqual({"manager": {200}, "member": {403}}, self.statuses())
        copy.rename(self.path)
        self.assertEqual({"manager": {403}, "member": {200}}, self.statuses())


class TestWrongPolicyFile(ApiCase):
    def make(self):
        return None, None

    def test_it_is_said_at_the_start(self):
        path = self.directory / "policy.yaml"
        self.OPTIONS = f"[oslo_policy]\npolicy_file = {path}"
        for text, words in (
            ("a: b: c", ""),
            ("- a list", "a rule is a name and a text"),
            ('"twotier:jobs:list": "rule:nobody"', "list refers to the rule nobody, which does"),
            ('"twotier:jobs:list": "not rule:nobody"', "refers to the rule nobody, which does"),
            (
                '"twotier:admin": "rule:twotier:sees_all"',
                "in a circle: twotier:admin -> twotier:sees_all -> twotier:admin",
            ),
            (
                '"mine": "role:a and not rule:yours"\n"yours": "role:b or rule:mine"',
                "in a circle: mine -> yours -> mine",
            ),
            ('"mine": "(role:a or role:b"', "mine: '(role:a or role:b' cannot be understood"),
            ('"mine": "! role:a"', "mine: '! role:a' cannot be understood"),
            ('"mine": "not ! or b"', "mine: 'not ! or b' cannot be understood"),
        ):
            path.write_text(text)
            error = self.assertRaises(ConfigError, super().make)
            self.assertIn(str(path), str(error))
            self.assertIn(words, str(error))

    def test_rules_that_allow_nobody_are_right(self):
        path = self.directory / "policy.yaml"
        self.OPTIONS = f"[oslo_policy]\npolicy_file = {path}"
        for text in ("!", "( ! )", "(!)", "not !", "role:a and not (role:b or !)", "", "@"):
            path.write_text(f'"mine": "{text}"')
            super().make()
        path.write_text('"mine": [["role:a", "!"], ["role:b"]]')
        super().make()


class TestNoAuth(ApiCase):
    def test_tokens(self):
        for token in ("", "a b:c", ":demo", "alice:", "x" * 65, "alice:demo:", "a:b:c:d"):
            answer = self.get("/v1/jobs", token)
            self.refused(401, "request.unauthorized", answer)
            self.assertIn("www-authenticate", answer.headers)
        self.assertEqual("alice", self.submit("alice")["project_id"])

    def test_headers_do_not_help(self):
        headers = {
            "X-Roles": "admin",
            "X-Project-Id": "other",
            "X-Tenant-Id": "other",
            "X-Identity-Status": "Confirmed",
            "Openstack-System-Scope": "all",
        }
        self.refused(401, "request.unauthorized", self.get("/v1/jobs", None, headers=headers))
        answer = self.get("/v1/jobs?all_projects=true", headers=headers)
        self.refused(403, "request.forbidden", answer)

    def test_it_is_warned_of(self):
        self.assertIn("For demonstrations only", self.logged.output)
