"""Tables in Markdown."""


def head(*names: str) -> None:
    row(*names)
    row(*("---" for _name in names))


def row(*cells) -> None:
    print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)
