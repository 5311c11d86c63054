"""Small pieces of Markdown."""


def cell(text):
    """Text that stays inside its table cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def code(text):
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def number(value):
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
