"""Why something is refused or fails, and why jobs end."""

from nova_twotier.core.reasons.reason import Code

SLOTS_TAKEN = Code(
    "slots-taken",
    "the slots that it was to get were taken meanwhile",
    "Another server took the slots between the decision and the action.",
    "It is tried again by itself.",
)
BANDWIDTH_TAKEN = Code(
    "bandwidth-taken",
    "the bandwidth that it was to get was taken meanwhile",
    "Another job reserved the links between the decision and the action.",
    "It is tried again by itself.",
)
LESS_BANDWIDTH = Code(
    "less-bandwidth",
    "Nova placed it where it has less bandwidth than is guaranteed",
    "Nova's scheduler chose other hosts than were planned.",
    "It is tried again by itself; operators: is VirtualClusterFilter enabled?",
)
INCOMPLETE = Code(
    "incomplete",
    "Nova made {made} of {size} servers",
    "Nova accepted the request for its servers, and did not make all of them.",
    "It is tried again by itself; tell the operator if it fails.",
)
NOT_RESTORED = Code(
    "not-restored",
    "server {server} does not come back in the {tier}",
    "Nova did not unshelve or resume a server, however often it was asked.",
    "It is tried again by itself; `openstack server show` has Nova's fault.",
)
WRONG_TIER = Code(
    "wrong-tier",
    "Nova placed it outside the {tier}",
    "Its servers have slots of another tier than the one that was decided.",
    "It is tried again by itself; operators: is TierFilter enabled?",
)
OVERDUE = Code(
    "overdue",
    "not over after {seconds} s: server {server} is {status}[ ({task})]",
    "Nova took too long with a server.",
    "It is tried again by itself; tell the operator if it happens often.",
)
SLOTS_NOT_FREED = Code(
    "slots-not-freed",
    "not over after {seconds} s: slots of its servers are not free",
    "Its servers are gone, but Placement still counts their slots.",
    "It is tried again by itself; operators: `twotier-manage ledger verify`.",
)
SERVERS_GONE = Code(
    "servers-gone",
    "{missing} of its {size} servers are gone",
    "Somebody deleted servers of the job.",
    "End a job with `openstack twotier job complete` or `cancel`, not through its servers.",
)
TOO_MANY_SERVERS = Code(
    "too-many-servers",
    "it has {servers} servers for {size} processes",
    "Servers that the manager did not boot claim to be the job's.",
    "Tell the operator.",
)
SERVER_ERROR = Code(
    "server-error",
    "server {server} is in ERROR",
    "Nova or its hypervisor failed with a server.",
    "`--retries` lets a job begin anew; `openstack server show` has Nova's fault.",
)
NO_VALID_HOST = Code(
    "no-valid-host",
    "server {server} is in ERROR: {fault}",
    "Nova's scheduler found no host for a server although slots were idle.",
    "Check flavor, image and networks: hosts may lack what they ask for. Else tell the operator.",
)
HOST_DOWN = Code(
    "host-down",
    "the host of server {server} is down",
    "A compute host counts as dead.",
    "`--retries` lets a job begin anew on other hosts.",
)
TRUST = Code(
    "trust",
    "Keystone does not let the queue manager act for the job's owner any more: the project "
    "or the user is disabled or deleted, or the user has lost the role in the project that it had "
    "when it submitted the job, or has deleted the trust",
    "Keystone no longer accepts the trust that the owner gave to the job.",
    "Get the role back, or submit the job anew as a user who has it.",
)
NO_FLAVOR = Code(
    "no-flavor",
    "there is no flavor {flavor}; choose one of those that there are",
    "The job's flavor does not exist, or not any more.",
    "Submit it with a flavor of `openstack flavor list`.",
)
UNFIT_FLAVOR = Code(
    "unfit-flavor",
    "flavor {flavor} does not have {wanted}=1; choose one that has",
    "The job's flavor asks for no slot, so that it is not for jobs.",
    "Submit it with a flavor for jobs; the operator knows which.",
)
FLAVOR_WITH_CPU = Code(
    "flavor-with-cpu",
    "flavor {flavor} has {given}, which is for servers without a job; choose one without, and give "
    "the job's CPU utilisation",
    "The job's flavor declares a CPU utilisation, which jobs declare themselves.",
    "Submit it with another flavor, and with `--cpu`.",
)
UNFIT_IMAGE = Code(
    "unfit-image",
    "image {image} has {given}; choose one that has at most {longest}, or none",
    "Nova would wait too long for the guests of this image when they are shut down.",
    "Submit it with another image, or set a shorter `os_shutdown_timeout` on this one.",
)
NEUTRON = Code(
    "neutron",
    "Neutron does not guarantee the bandwidth of its servers; tell the operator",
    "Neutron refused the QoS policy of the job's ports.",
    "Tell the operator; or submit it without `--bandwidth`.",
)
BOOT_REFUSED = Code(
    "boot-refused",
    "Nova refused its servers (HTTP {status}): check its flavor, image, networks and key",
    "Nova does not accept the request for the job's servers.",
    "Check that flavor, image, networks and key exist and that the project may use them.",
)
NOVA_REFUSED = Code(
    "nova-refused",
    "Nova refused its servers (HTTP {status}): {text}",
    "Nova does not accept the request for the job's servers, and says why.",
    "Submit it again without what Nova names. After HTTP 400 it is not tried again by itself.",
)
NOVA_FAILS = Code(
    "nova-fails",
    "Nova cannot make its servers, however often it is asked; tell the operator",
    "Nova's API fails on the request for the job's servers.",
    "Tell the operator.",
)
POWER_ON_REFUSED = Code(
    "power-on-refused",
    "Nova does not start its servers again",
    "Servers that were off were to be started, and Nova refused that.",
    "It is tried again by itself; `openstack server show` has Nova's fault.",
)
SERVERS_OFF = Code(
    "servers-off",
    "its servers are off",
    "Its guests had ended before it could be preempted.",
    "Nothing.",
)
NOT_SAVED = Code(
    "not-saved",
    "server {server} does not {mode}, it is {status}",
    "Nova did not shelve or suspend a server, however often it was asked.",
    "The job continues; tell the operator if it happens often.",
)
CANNOT_MIGRATE = Code(
    "cannot-migrate",
    "server {server} cannot migrate, it is {status}",
    "Only servers that are ACTIVE can be live-migrated.",
    "It is saved or tried again by itself.",
)
NOT_MIGRATED = Code(
    "not-migrated",
    "server {server} does not migrate into the {tier}",
    "Nova did not live-migrate a server, however often it was asked.",
    "It is saved or tried again by itself; operators: the instance's actions say why.",
)
EARLIER_FAILED = Code(
    "earlier-failed",
    "an action before it failed",
    "Another action of the same decision failed, and this one has not begun.",
    "It is decided anew by itself.",
)
REQUESTED = Code(
    "requested",
    "a user asked to {action} it",
    "Its owner, another member of the project or an operator completed, cancelled or requeued it.",
    "Nothing.",
)
DEPENDENCY = Code(
    "dependency-failed",
    "was to start only after the success of {by}, which is {state}",
    "It was to start only after the success of a job that failed or was cancelled.",
    "See why that job did not finish, and submit both anew.",
)
ARRAY_GONE = Code(
    "array-gone",
    "was to start only after the success of array {array}, which is gone",
    "It was to start only after the success of all tasks of an array whose records are deleted.",
    "If they have succeeded, submit it anew without the array.",
)
NO_POOL = Code(
    "no-pool",
    "there is no pool {pool}, only {pools}",
    "No hosts are in the pool that the job asks for.",
    "Submit it for another pool; operators: is it in `[manager]pools` of the API's configuration?",
)
WALLTIME = Code(
    "walltime",
    "ran its walltime of {walltime} s",
    "It ran for as long as it may.",
    "Submit it with a longer `--walltime`.",
)
EXIT_STATUS = Code(
    "exit-status",
    "the process of rank {process} ended with exit status {status}",
    "A script of the job ended with a status other than 0. Ranks count from 0: that of server "
    "`tt-12-1` is 0.",
    "The console log of the process's server says more (`--keep-servers` keeps the servers).",
)
NOT_UP = Code(
    "not-up",
    "a server was off: it was started again, and did not come up",
    "Nova could not start a server that was off.",
    "`--retries` lets a job begin anew; `openstack server show` has Nova's fault.",
)
LEFT_OFF = Code(
    "left-off",
    "a server was off: Nova left it off[ after `{action}`]",
    "A server was off after an action of Nova that leaves it running, or without any.",
    "It is started again by itself.",
)
HOST_REBOOTED = Code(
    "host-rebooted",
    "a server was off: its host rebooted",
    "The server's host was rebooted, and its guest with it.",
    "It is started again by itself, from its disk.",
)
UNREPORTED = Code(
    "unreported",
    "a server was off: its script did not report its end"
    "[, though started {times} times: does its image use the console?]",
    "The guest powered itself off without the report that the job's `report_token` asks for.",
    "It is started again a few times; its image needs cloud-init and a serial console.",
)
