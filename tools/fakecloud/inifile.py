"""Write oslo.config files from plain dictionaries."""

import pathlib

from nova_twotier.tools.fakecloud.layout import write_atomically


def render(sections: dict[str, dict]) -> str:
    """Values may be lists: an option that is given several times."""
    lines = []
    for section, options in sections.items():
        lines.append(f"[{section}]")
        for name, value in options.items():
            for item in value if isinstance(value, list) else [value]:
                text = str(item).lower() if isinstance(item, bool) else str(item)
                lines.append(f"{name} = {text}")
        lines.append("")
    return "\n".join(lines)


def write(path: pathlib.Path, sections: dict[str, dict]) -> None:
    write_atomically(path, render(sections))


def merge(*layers: dict[str, dict]) -> dict[str, dict]:
    """Sections of later layers add to and replace options of the earlier ones."""
    merged = {}
    for layer in layers:
        for section, options in layer.items():
            merged.setdefault(section, {}).update(options)
    return merged
