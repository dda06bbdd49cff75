"""Assigns the VMs of a host to numbered slots, and moves a VM only if it must or it pays.

`slots.arrange` says which processes share a slot; here slots have numbers, and VMs that are in a
slot stay there unless a rule is broken or the move is worth it. The rules are those of `arrange`
(TPDS 2013, sections 3 and 4.2): a foreground VM has a slot of its own; background VMs are spread
evenly over the slots that are open; high utilisation is beside low utilisation.
"""

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

from nova_twotier.core.slots import THRESHOLD, is_hot

#: A move must lower the contention on the host by more than this, in CPUs: the sum over all slots
#: of foreground utilisation times background utilisation.
GAIN = 0.1
#: Whatever the caller names VMs by.
Key = TypeVar("Key", bound=Hashable)


# No dataclass: mypyc cannot compile a generic one.
class _Slot(Generic[Key]):
    """The VMs in a slot, with their CPU utilisation."""

    def __init__(self) -> None:
        self.fg: dict[Key, float] = {}
        self.bg: dict[Key, float] = {}

    @property
    def fg_load(self) -> float:
        return sum(self.fg.values())

    def is_open(self, threshold: float) -> bool:
        return not any(is_hot(cpu, threshold) for cpu in self.fg.values())


def assign(
    slots: int,
    fg: Mapping[Key, float],
    bg: Mapping[Key, float],
    held: Mapping[Key, int],
    threshold: float = THRESHOLD,
    gain: float = GAIN,
) -> dict[Key, int]:
    """Assign each VM of a host to a slot.

    If there are more foreground VMs than slots, as after a host was made smaller, some share one.
    If all slots are closed, background VMs share those: they are overdue for eviction.

    :param slots: L of the host, at least 1.
    :param fg: CPU utilisation by VM, 0..1.
    :param bg: the same for the background.
    :param held: the slots that VMs have now; others are new, and so are those in slots >= L.
    :param gain: what a move must be worth, see `GAIN`.
    :returns: the slot of each VM, 0..L-1. With these as `held`, the result is the same.
    """
    table: list[_Slot[Key]] = [_Slot() for _ in range(slots)]
    _seat_foreground(table, fg, bg, held)
    opened = [slot for slot in table if slot.is_open(threshold)] or table
    _seat_background(table, opened, bg, held)
    _balance(opened)
    while _improve(opened, gain):
        pass
    seats: dict[Key, int] = {}
    for number, slot in enumerate(table):
        seats |= dict.fromkeys((*slot.fg, *slot.bg), number)
    return seats


def _seat_foreground(
    table: list[_Slot[Key]],
    fg: Mapping[Key, float],
    bg: Mapping[Key, float],
    held: Mapping[Key, int],
) -> None:
    beside = [0.0] * len(table)
    for key, cpu in bg.items():
        if held.get(key, len(table)) < len(table):
            beside[held[key]] += cpu
    new = []
    for key, cpu in fg.items():
        number = held.get(key, len(table))
        if number < len(table) and not table[number].fg:
            table[number].fg[key] = cpu
        else:
            new.append(key)
    for key in sorted(new, key=fg.__getitem__, reverse=True):
        number = min(range(len(table)), key=lambda each: (len(table[each].fg), beside[each], each))
        table[number].fg[key] = fg[key]


def _seat_background(
    table: list[_Slot[Key]],
    opened: list[_Slot[Key]],
    bg: Mapping[Key, float],
    held: Mapping[Key, int],
) -> None:
    new = []
    for key, cpu in bg.items():
        number = held.get(key, len(table))
        if number < len(table) and table[number] in opened:
            table[number].bg[key] = cpu
        else:
            new.append(key)
    for key in sorted(new, key=bg.__getitem__, reverse=True):
        slot = min(opened, key=lambda each: (len(each.bg), each.fg_load))
        slot.bg[key] = bg[key]


def _balance(opened: list[_Slot[Key]]) -> None:
    """Spread background VMs so that no slot has two more than another."""
    while True:
        least = min(opened, key=lambda slot: (len(slot.bg), slot.fg_load))
        most = max(opened, key=lambda slot: (len(slot.bg), slot.fg_load))
        if len(most.bg) <= len(least.bg) + 1:
            return
        key = max(most.bg, key=most.bg.__getitem__)
        least.bg[key] = most.bg.pop(key)


def _improve(opened: list[_Slot[Key]], gain: float) -> bool:
    """Carry out the best move, or exchange, of background VMs between two slots; False if none."""
    best: tuple[_Slot[Key], _Slot[Key], Key, Key | None] | None = None
    worth = gain
    for hot in opened:
        for cool in opened:
            difference = hot.fg_load - cool.fg_load
            if difference <= 0:
                continue
            others: list[tuple[Key | None, float]] = [*cool.bg.items()]
            if len(hot.bg) > len(cool.bg):
                others.append((None, 0.0))
            for key, cpu in hot.bg.items():
                for other, other_cpu in others:
                    if (cpu - other_cpu) * difference > worth:
                        worth = (cpu - other_cpu) * difference
                        best = hot, cool, key, other
    if best is None:
        return False
    hot, cool, key, other = best
    cool.bg[key] = hot.bg.pop(key)
    if other is not None:
        hot.bg[other] = cool.bg.pop(other)
    return True
