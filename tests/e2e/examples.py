"""Reads the shell examples of a document: the commands and their documented output.

It recognises three forms: `$ command` lines with output below, ```sh blocks with results in comments, and indented commands.
"""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHELL_LANGUAGES = ("", "console", "sh")
# The first word of an indented block that is a command.
COMMANDS = ("shepherd ", "make ", "cmake ", "build/", "ctest", "ninja ", "tools/", "python3 ", "cd ")


@dataclass
class Block:
    language: str
    heading: str
    line: int
    text: str
    follows_directly: bool  # nothing between it and the previous block


@dataclass
class Example:
    document: str
    heading: str
    line: int
    command: str
    shown: list = field(default_factory=list)  # lines of output
    note: str = ""  # the comment after the command

    def __str__(self):
        return f"{self.document}:{self.line}: {self.command.splitlines()[0]}"


def blocks(path):
    """The fenced and the indented blocks of a Markdown file."""
    found, heading, lines, number, last_end = [], "", path.read_text().splitlines(), 0, -9
    while number < len(lines):
        line = lines[number]
        if line.startswith("#"):
            heading = line.lstrip("# ")
        fence = line.startswith("```")
        indented = line.startswith("    ") and (number == 0 or not lines[number - 1].strip())
        if fence or indented:
            begin = number + 1 if fence else number
            end = begin
            while end < len(lines) and not lines[end].startswith("```") and (fence or lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            text = "\n".join(lines[begin:end])
            language = line[3:].strip() if fence else "indented"
            found.append(Block(language, heading, begin + 1, text, number - last_end <= 2))
            number = last_end = end if fence else end - 1
        number += 1
    return found


def is_complete(command):
    """Whether the command is complete, so that the shell would run it without another line."""
    if command.endswith(("\\", "|")):
        return False
    return subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True).returncode == 0


def split_note(line):
    """A command line and its trailing comment."""
    found = re.match(r"(.*\S)\s{2,}#\s(.*)", line)
    return found.groups() if found else (line, "")


def of_console(block, document):
    found = []
    for offset, line in enumerate(block.text.splitlines()):
        if line.startswith("$ "):
            found.append(Example(document, block.heading, block.line + offset, *split_note(line[2:])[:1], note=split_note(line)[1]))
        elif found and not found[-1].shown and not is_complete(found[-1].command):
            found[-1].command += "\n" + line
        elif found:
            found[-1].shown.append(line)
    return found


def of_script(block, document):
    found, open_ = [], False
    for offset, line in enumerate(block.text.splitlines()):
        line = line.removeprefix("    ") if block.language == "indented" else line
        if line.startswith("#") and found and not open_:
            found[-1].shown.append(line.lstrip("# "))
            continue
        if not line.strip() and not open_:
            continue
        command, note = split_note(line)
        if open_:
            found[-1].command += "\n" + command
        else:
            found.append(Example(document, block.heading, block.line + offset, command))
        found[-1].note = note or found[-1].note
        open_ = not is_complete(found[-1].command)
    return found


def examples(name):
    """All examples of one document, in order."""
    found = []
    for block in blocks(ROOT / name):
        first = block.text.strip().split("\n")[0]
        if block.language == "sh" or block.language == "indented" and first.startswith(COMMANDS):
            found += of_script(block, name)
        elif block.language in SHELL_LANGUAGES and first.startswith("$ "):
            found += of_console(block, name)
        elif block.language == "" and block.follows_directly and found:
            found[-1].shown += block.text.splitlines()  # the output of the command above
    return found


# --- documented output compared with real output ---

def shape(line):
    """A pattern for a line of output: `…` matches anything, ids and times may differ, and blanks match any number of
    blanks."""
    pattern = re.escape(line.strip())
    pattern = pattern.replace("…", ".*")
    pattern = re.sub(r"01[0-9a-z]{24}", "[0-9a-z]{26}", pattern)
    pattern = re.sub(r"\\\+\d+\\\.\d+s", r"\\+[0-9.]+s", pattern)
    pattern = re.sub(r"after\\ \d+\\\.\d+s", r"after\\ [0-9.]+s", pattern)
    return re.compile(re.sub(r"(\\ )+", r"\\s+", pattern))


def missing_line(shown, printed):
    """The first documented line that was not printed in order, or None. Other lines may come in between."""
    rest = iter(printed)
    for line in filter(str.strip, shown):
        if not any(shape(line).fullmatch(each.strip()) for each in rest):
            return line
    return None


def same_form(shown, value):
    """Two JSON values with the same members and types."""
    if isinstance(shown, dict):
        return isinstance(value, dict) and set(shown) == set(value) and all(same_form(shown[k], value[k]) for k in shown)
    if isinstance(shown, list):
        return isinstance(value, list) and all(same_form(shown[0], each) for each in value if shown)
    number = (int, float)
    return type(shown) is type(value) or isinstance(shown, number) and isinstance(value, number)


def names_in(value):
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values())) if value else set()
    return set().union(*map(names_in, value)) if isinstance(value, list) and value else set()


def wrong_json(shown, value):
    """The first difference between a documented JSON text and the value, or None. `{"a","b"?}` names members without
    values."""
    try:
        return None if same_form(json.loads(shown), value) else f"has another form than {shown}"
    except ValueError:
        pass
    wanted = {name for before, name, maybe in re.findall(r'(:\s*)?"(\w+)"(\?)?', shown) if not before and not maybe}
    absent = sorted(wanted - names_in(value))
    return f"lacks {', '.join(absent)} of {shown}" if absent else None
