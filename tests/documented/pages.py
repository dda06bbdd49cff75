"""The pages, their fenced blocks, and the commands in these, with the line where each stands."""

import os
import pathlib
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).parents[2]


def _contents(page: pathlib.Path) -> Iterator[pathlib.Path]:
    """A page and those below it, as the tables of contents have them."""
    yield page
    for names in re.findall(
        r"^```\{toctree\}\n:hidden:\n\n(.*?)^```$", page.read_text(), re.M | re.S
    ):
        for name in names.splitlines():
            target = re.sub(r".*<(.*)>", r"\1", name)
            below = pathlib.Path(os.path.normpath(page.parent / f"{target}.md"))
            if below.exists():  # not one in reStructuredText
                yield from _contents(below)


#: In the order of the contents: commands may need what those of earlier pages have made.
PAGES = list(_contents(ROOT / "doc/index.md"))
#: Languages of fenced blocks with commands. In a console, commands are what follows a prompt.
SHELL, CONSOLE = "shell", "console"
#: Words of the shell itself that a command may follow.
_KEYWORDS = {"do", "then", "else"}
#: Something that the reader fills in.
_PLACEHOLDER = re.compile(r"<[a-z][\w ]*>")


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is that of its first fence."""

    page: str
    line: int
    language: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command in a block, and where it begins."""

    page: str
    line: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {shlex.join(self.words)}"


def blocks(text: str, page: str = "") -> Iterator[Block]:
    """All fenced blocks of a page, without the indentation of the list that they may be in."""
    for found in re.finditer(r"^( *)```(\S*)\n(.*?)^ *```$", text, re.M | re.S):
        line = text.count("\n", 0, found.start()) + 1
        body = re.sub(rf"^{found[1]}", "", found[3], flags=re.M)
        yield Block(page, line, found[2], body)


def lines(block: Block) -> Iterator[tuple[int, str]]:
    """The lines of shell in a block, with their numbers; not what it prints or writes to files."""
    if block.language not in (SHELL, CONSOLE):
        return
    whole, end = "", None
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if end is not None:
            end = None if line == end else end
            continue
        if not whole:
            begin = number
            if block.language == CONSOLE:
                if not line.startswith("$ "):
                    continue
                line = line.removeprefix("$ ")
        whole += line.removesuffix("\\")
        if line.endswith("\\"):
            continue
        if here := re.search(r"<<'?(\w+)'?", whole):
            end, whole = here[1], whole[: here.start()]
        yield begin, whole.strip()
        whole = ""


def commands(text: str, page: str = "") -> Iterator[Command]:
    """The commands in the blocks of a page, in their order."""
    for block in blocks(text, page):
        for line, shell in lines(block):
            for words in split(shell):
                yield Command(page, line, tuple(words))


def every_command() -> Iterator[Command]:
    """The commands in the blocks of all pages."""
    for path in PAGES:
        yield from commands(path.read_text(), path.relative_to(ROOT).as_posix())


def section(command: Command) -> str:
    """The heading of second level above a command; empty if there is none."""
    above = (ROOT / command.page).read_text().splitlines()[: command.line]
    headings = (line for line in reversed(above) if line.startswith("## "))
    return next(headings, "").removeprefix("## ")


def spans(text: str) -> Iterator[tuple[int, str]]:
    """What stands in `...` outside of blocks, with its line."""
    blank = re.sub(
        r"^ *```.*?^ *```$", lambda found: "\n" * found[0].count("\n"), text, flags=re.M | re.S
    )
    for found in re.finditer(r"`([^`]+)`", blank):
        yield blank.count("\n", 0, found.start()) + 1, " ".join(found[1].split())


def split(line: str) -> Iterator[list[str]]:
    """The commands in a line of shell, in words, without variables and where output goes."""
    for inner in re.findall(r"\$\(([^()]*)\)", line):
        yield from split(inner)
    words: list[str] = []
    skip = False
    for word in [*_words(re.sub(r"\$\([^()]*\)", "X", line)), ";"]:
        if word in {"&&", "||", ";", "|", "&"}:
            if words:
                yield _without_user(words)
            words, skip = [], False
        elif skip:
            skip = False
        elif redirected := re.fullmatch(r"\d?[<>]+(.*)", word):
            skip = not redirected[1]
        elif words or not (word in _KEYWORDS or re.fullmatch(r"\w+=.*", word)):
            words.append(word)


def _without_user(words: list[str]) -> list[str]:
    """The command that is run as another user, or the command itself."""
    if words[0] == "runuser" and "--" in words:
        return words[words.index("--") + 1 :]
    return words


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(_PLACEHOLDER.sub("X", line), posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []  # a text with an apostrophe, not shell
