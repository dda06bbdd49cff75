"""The tables of benchmarks/scheduler.py, in Markdown."""

from collections.abc import Iterable, Sequence

from nova_twotier.core.actions import Tier

from .cloud import Cloud
from .ledger import LedgerBench, LedgerCloud, PlacementService
from .linked import LinkedCloud, OwnCloud
from .profiling import HANDLER, PLAN, Profile, is_ours
from .variants import GUARANTEED, OWN, PLAIN, TWO_TIER, Bench, Timing, best, over


def costs(hosts: Iterable[int], sizes: Sequence[int], rounds: int, tier: Tier) -> None:
    """Table 1; each line as soon as it is measured."""
    print(f"\n`_schedule`, {tier} requests, best of {rounds}: CPU ms (wall ms)\n")
    _head(
        *("hosts", "VMs", "a", "b", "c", "b over a (<= 15 %)", "c over a (< 0)"),
        *("plain a", "plain d", "d over a (< 1 %)", "noise", "our code in d"),
    )
    for number in hosts:
        cloud = Cloud(number)
        two_tier, plain = Bench(cloud, TWO_TIER, tier), Bench(cloud, PLAIN, tier)
        for size in sizes:
            times = two_tier.rounds(size, rounds)
            others = plain.rounds(size, rounds)
            base = others["a"]
            _row(
                f"{number:,}",
                size,
                *(_both(best(times[name])) for name in TWO_TIER),
                _percent(over(times["b"], times["a"])),
                _percent(over(times["c"], times["a"])),
                _both(best(base)),
                _both(best(others["d"])),
                _percent(over(others["d"], base)),
                _percent(over(others["a again"], base)),
                f"{_our_share(plain, 'd', size):.3%}",
            )


def _our_share(bench: Bench, name: str, size: int) -> float:
    found, whole = _profiled(bench, name, size)
    return sum(spent for part, spent in found.items() if is_ours(part)) / whole


def _profiled(bench: Bench, name: str, size: int) -> tuple[dict[str, float], float]:
    """CPU seconds of a request by part, and of all of it."""
    profile = Profile(bench.schedulers[name])
    with profile.watching():
        whole = bench.run(name, size).cpu
    return profile.parts(), whole


def parts(cloud: Cloud, size: int, tier: Tier) -> None:
    """Where the time of one request goes, by variant."""
    variants = {**TWO_TIER, "plain d": PLAIN["d"]}
    bench = Bench(cloud, variants, tier)
    found, whole = {}, {}
    for name in variants:
        bench.run(name, size)
        found[name], whole[name] = _profiled(bench, name, size)
    print(f"\nWhere it goes: {size} VMs, {len(cloud.hosts):,} hosts, CPU ms\n")
    _head("part", *variants)
    for part in dict.fromkeys(part for each in found.values() for part in each):
        _row(part, *(_cell(found[name].get(part)) for name in variants))
    rest = {name: whole[name] - sum(found[name].values()) for name in variants}
    _row("the rest", *(_cell(rest[name]) for name in variants))
    _row("whole `_schedule`", *(_cell(whole[name]) for name in variants))
    for title, belongs in ((HANDLER, lambda part: part.startswith(HANDLER)), ("our code", is_ours)):
        shares = (
            sum(spent for part, spent in found[name].items() if belongs(part)) / whole[name]
            for name in variants
        )
        _row(f"{title}, share of the whole", *(f"{share:.1%}" for share in shares))


def reads(number: int, sizes: Sequence[int], rounds: int, tier: Tier) -> None:
    """Table 2."""
    print(f"\nselect_destinations with a real Placement, {number:,} hosts, best of {rounds}\n")
    with PlacementService() as placement:
        cloud = LedgerCloud(number, placement)
        bench = LedgerBench(cloud, TWO_TIER, tier)
        _head("VMs", "Nova's read", "our reads", "a", "b", "c", "b over a", "c over a")
        for size in sizes:
            times = bench.rounds(size, rounds)
            _row(
                size,
                *(_both(best(times[name])) for name in ("Nova's read", "our reads", *TWO_TIER)),
                _percent(over(times["b"], times["a"])),
                _percent(over(times["c"], times["a"])),
            )


def plans(hosts: Iterable[int], sizes: Sequence[int], rounds: int) -> None:
    """Table 3."""
    print(f"\nVMs with bandwidth, best of {rounds}: CPU ms (wall ms)\n")
    _head(
        *("hosts", "VMs", "a", "e", "the plan in e", "the plan over a (< 10 %)"),
        *("f", "the plan in f", "the plan over a (< 10 %)"),
    )
    for number in hosts:
        bench = Bench(LinkedCloud(number), GUARANTEED, Tier.FG)
        own = Bench(OwnCloud(number), OWN, Tier.FG)
        for size in sizes:
            times = bench.rounds(size, rounds)
            base = best(times["a"])
            _row(
                f"{number:,}",
                size,
                _both(base),
                *_with_plan(best(times["e"]), base, _planned(bench, "e", size, rounds)),
                *_with_plan(
                    best(own.rounds(size, rounds)["f"]), base, _planned(own, "f", size, rounds)
                ),
            )


def _planned(bench: Bench, name: str, size: int, rounds: int) -> float:
    return min(_profiled(bench, name, size)[0][PLAN] for _round in range(rounds))


def _with_plan(whole: Timing, base: Timing, planned: float) -> tuple[str, str, str]:
    return _both(whole), _cell(planned), _percent(planned / base.cpu)


def _head(*names: str) -> None:
    _row(*names)
    _row(*("---" + ":" * bool(number) for number in range(len(names))))


def _row(*cells) -> None:
    print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


def _both(timing: Timing) -> str:
    return f"{1000 * timing.cpu:,.1f} ({1000 * timing.wall:,.1f})"


def _cell(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:,.1f}"


def _percent(ratio: float) -> str:
    return f"{100 * ratio:+.1f} %"
