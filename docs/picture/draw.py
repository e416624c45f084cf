#!/usr/bin/env python3
"""Draws answer.svg, the picture of the README, from what the program really answers.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install rich
    cargo build && /tmp/venv/bin/python docs/picture/draw.py target/debug/cicerone
"""
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = Path(__file__).resolve().parent
QUESTIONS = ["What does a ticket cost, and when is the last admission?", "Who painted the Mona Lisa?"]
WIDTH = 92
# Readable on light and dark pages alike.
THEME = TerminalTheme((24, 28, 36), (216, 222, 233), [(24, 28, 36)] * 8, [(24, 28, 36)] * 8)


def main():
    program = Path(sys.argv[1]).resolve()
    console = Console(record=True, width=WIDTH, force_terminal=True, color_system="truecolor", file=open("/dev/null", "w"))
    for question in QUESTIONS:
        command = [program, "ask", "--source", "museum", question]
        answer = subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True).stdout
        console.print(Text.assemble(("$ ", "#7f8ba3"), ("cicerone ask --source museum ", "bold #88c0d0"), (f'"{question}"', "#a3be8c")))
        for line in answer.strip().splitlines():
            is_source = re.match(r"Sources:|\[\d+\] ", line)
            console.print(Text(line, style="#ebcb8b" if is_source else ""))
        console.print()
    svg = console.export_svg(title="cicerone", theme=THEME, unique_id="answer", code_format=form())
    (HERE / "answer.svg").write_text(svg)


def form():
    """The frame that Rich draws, with fonts of the viewer's system instead of some from elsewhere."""
    from rich._export_format import CONSOLE_SVG_FORMAT

    text = re.sub(r"\n\s*@font-face \{\{.*?\n\s*\}\}", "", CONSOLE_SVG_FORMAT, flags=re.S)
    return text.replace("Fira Code, monospace", "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace")


main()
