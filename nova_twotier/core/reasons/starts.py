"""What the start of a waiting job depends on, and why it is not predicted."""

from nova_twotier.core.reasons.reason import Code

STARTS_AFTER = Code(
    "starts-after",
    "starts when {by} leaves, expected in {wait}"
    "[; with {smaller} instead of {size} processes it would start now]",
    "As far as is known, the end of that job makes room for it.",
    "Wait; or cancel it and submit it with a smaller size, if one is named.",
)
FEWER_PROCESSES = Code(
    "fewer-processes",
    "with {smaller} instead of {size} processes it would start now",
    "The policy would start a job of this size at once.",
    "Wait; or cancel it and submit it with the smaller size.",
)
NO_MANAGER = Code(
    "no-manager",
    "nothing is predicted: no queue manager is at work",
    "The pool's queue manager has stopped, so that its predictions may be wrong by now.",
    "Tell the operator.",
)
NOT_PREDICTED = Code(
    "not-predicted",
    "nothing has been predicted since it was submitted or changed",
    "Jobs are predicted about once a minute, and soon after decisions of the policy.",
    "Wait for a minute. If that lasts: operators find in the manager's log what fails; with "
    "`[manager]prediction_interval = 0` nothing is predicted.",
)
FAR_BEHIND = Code(
    "far-behind",
    "too far behind in the queue to be predicted: probably later than {later}",
    "Only the jobs that are first in the queue are predicted.",
    "Wait.",
)
NEVER_STARTS = Code(
    "never-starts",
    "it does not start as things are: none of the jobs that are expected to end makes room for it"
    "[ on hosts where it would end before their planned maintenance: it may run for {limit} s, and "
    "the first maintenance begins at {begin}]",
    "Even when all of them have ended, there is no room for it.",
    "See its reason. Servers that belong to no job may hold the slots for ever; hosts that are "
    "drained count as gone until their maintenance is over, and so do those whose maintenance is "
    "planned while a job waits that would not end before.",
)
