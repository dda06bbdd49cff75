"""Why claims of the papers do not hold here, as far as it is known, by experiment and claim.

A reason names the command that shows it, unless it is the experiment's own.
"""

from nova_twotier.sim.reproduce import symmetry_embedding, two_tier_bandwidth
from nova_twotier.sim.reproduce.symmetry_setting import NARROW, ONE_PATH

_BUSY = (
    "a background process keeps the cycles busy that its foreground leaves idle, and less than "
    "half of them do work; the printed improvement is close to that of the work"
)
_CEILING = (
    "with as many busy cycles as AMCBF uses here, EASY's slots would have to be more than full; "
    "either the paper's background keeps fewer cycles busy, or it counted something else"
)
_PROMOTED = (
    "jobs that are promoted from the background on other nodes count as migrations, as well; the "
    "claim after this one counts restores only"
)

#: Of Figures 4 and 5 of JSS 2015.
_SHORT = (
    "the workload is too short here: FCFS cannot carry the higher loads, so that its waits grow "
    "with the number of jobs; with as many as in the last column below it holds"
)
#: Of Figures 9 and 10 of JSS 2015, and of the same study in TPDS 2013.
_CLOSED = (
    "it fails in the last step: if all processes use all of their CPUs, all of their slots are "
    "closed, and no job is started beside another; a claim below leaves the step out"
)
_ONE_SEED = "it depends on the draws: it holds with three seeds"
_LOW_LOAD = (
    "at low loads the response times of all three are close, and which is ahead depends on the "
    "draws; the next claim leaves these loads out"
)
#: Of Figures 4 and 5 of Symmetry 2018.
_SAME_SEARCH = (
    "given AdaBa's search for the smallest subtree, all of them accept nearly the same jobs: those "
    "that fit on one host find one, and to the others the order of hosts makes no difference"
)

#: Of our own study of two tiers with guaranteed bandwidth.
_NO_LINKS = (
    "links are short there, not slots: what the foreground leaves is slots without links, so that "
    "little work is done in the background, and which is ahead by so little depends on the draws"
)
_PASSED = "by arrival + run time, short jobs pass the long ones, which then wait longer"
_SHARED_LINKS = (
    "one tier loses nothing to the whole fat-tree (`run --tiers 1` with `--topology` and without): "
    "only the background finds the hosts' links taken; with oversubscribed edges, every policy "
    "waits for links"
)

#: Rivals of AdaBa that are given its search.
_SEARCHING = ("Best fit", "Oktopus", "Greedy")

_UTILISATION = {
    "CMCBF and AMCBF have a higher CPU utilisation than EASY (busy CPU cycles, as section 5.2 has "
    "it)": _BUSY,
    "They improve the CPU utilisation at saturation (busy CPU cycles, as section 5.2 has it)": (
        _BUSY
    ),
    "The improvement at saturation can be one of busy CPU cycles": _CEILING,
}

_IMPROVEMENTS = {
    f"ACFCFS improves FCFS's average {metric}": _SHORT for metric in ("wait", "bounded slowdown")
}
_EASY = {"EASY is better than CMBF and AMBF": _LOW_LOAD}

REASONS: dict[str, dict[str, str]] = {
    "jss2015-fig4": _IMPROVEMENTS
    | {"CCFCFS and ACFCFS are better than FCFS, on average and at the maximum": _ONE_SEED},
    "jss2015-fig5": _IMPROVEMENTS,
    "jss2015-fig9": {"The more CPU the processes use, the longer the wait": _CLOSED},
    "tpds2013-fig3": _UTILISATION | _EASY,
    "tpds2013-fig4": _UTILISATION | _EASY | {"CMCBF and AMCBF migrate less than CMBF": _PROMOTED},
    "tpds2013-cpu-usage": {"FWorkload: The more CPU the processes use, the slower": _CLOSED},
    **{
        experiment.name: {
            claim.text: _SAME_SEARCH
            for claim in experiment.claims
            if claim.text.endswith(_SEARCHING)
            # There, Oktopus is clearly ahead.
            and not (ONE_PATH in claim.text and "Oktopus" in claim.text)
        }
        for experiment in (symmetry_embedding.FIG4, symmetry_embedding.FIG5)
    },
    "two-tier-bandwidth": {
        claim.text: reason
        for claim in two_tier_bandwidth.STUDY.claims
        for words, reason in (
            (f"{NARROW}: amcbf's average wait against bgmbf's", _NO_LINKS),
            (f"{NARROW}: cmcbf's average wait against bgmbf's", _NO_LINKS),
            (f"{NARROW}: amcbf's average wait against that without a background", _NO_LINKS),
            ("amcbf-deadline's maximum wait against bgmbf's", _PASSED),
            ("amcbf's average wait against that without a network", _SHARED_LINKS),
        )
        if claim.text.endswith(words)
    },
}
