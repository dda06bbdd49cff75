"""Prints doc/reasons.md, from the list of reasons: `python -m nova_twotier.tools.reasons`."""

from collections.abc import Iterable

from nova_twotier.core.reasons import LEGACY, PARTS, Code
from nova_twotier.core.reasons.reason import EFFECTS

INTRODUCTION = """\
# Reasons

`python -m nova_twotier.tools.reasons` prints this page from `nova_twotier/core/reasons`; do not
edit it.

Whatever makes a job wait, start, move, fail or lose its slots has a reason from this list.
`openstack twotier job explain` shows its text, code (`why`) and what to do (`cure`); the API has
code, parameters and text ([api.md](api.md#reasons)), and `/metrics` counts waiting jobs by code.
Codes are never reused for another meaning.

In the texts, `{name}` is a parameter, and `{by}` the job that is to blame: its number and name for
readers who may see it, "a job of another project" for others, and "a job that is no longer
recorded" after `db purge`. A part in brackets is left out if its parameters are not given.
"""
EFFECT_NOTE = "The same cause can lead to several things; `effect` says to which."


def page() -> str:
    """The page in Markdown."""
    parts = [INTRODUCTION]
    for part in PARTS:
        title = (part.__doc__ or "").strip().rstrip(".")
        codes = [code for code in vars(part).values() if isinstance(code, Code)]
        parts.append(f"## {title}\n\n{_table(codes)}")
    parts.append(f"## Texts without a code of their own\n\n{_table([LEGACY])}")
    effects = "\n".join(
        f"| `{effect}` | {text.format('...')} |" for effect, text in EFFECTS.items()
    )
    parts.append(f"## Effects\n\n{EFFECT_NOTE}\n\n| effect | text |\n|---|---|\n{effects}\n")
    return "\n".join(parts)


def _table(codes: Iterable[Code]) -> str:
    rows = "".join(
        f"| `{code.name}` | {code.text} | {code.meaning} | {code.cure} |\n" for code in codes
    )
    return f"| code | text | meaning | what to do |\n|---|---|---|---|\n{rows}"


if __name__ == "__main__":
    print(page(), end="")
