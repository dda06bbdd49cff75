"""Why claims of the papers do not hold here, as far as it is known, by experiment and claim.

A reason names the command that shows it, unless it is the experiment's own.
"""

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

_UTILISATION = {
    "CMCBF and AMCBF have a higher CPU utilisation than EASY (busy CPU cycles, as section 5.2 has "
    "it)": _BUSY,
    "They improve the CPU utilisation at saturation (busy CPU cycles, as section 5.2 has it)": (
        _BUSY
    ),
    "The improvement at saturation can be one of busy CPU cycles": _CEILING,
}

REASONS: dict[str, dict[str, str]] = {
    "tpds2013-fig3": _UTILISATION,
    "tpds2013-fig4": _UTILISATION | {"CMCBF and AMCBF migrate less than CMBF": _PROMOTED},
}
