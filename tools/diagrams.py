"""The pictures of boxes and arrows: each is drawn twice, for wide windows and for those below 500 pixels."""

from pathlib import Path

from draw import narrow_file

from lowregret.reporting.chart_style import FONT, GREY, INK

IMAGES = Path(__file__).parents[1] / "docs" / "images"
QUESTION, ANSWER, SERVER = "#EAF3FA", "#EAF7F0", "#FDF3E3"
NARROW = 360
"""The width of a narrow picture."""

HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
    f'font-family="{FONT}" font-size="15" fill="{INK}">\n'
    '<rect width="{w}" height="{h}" fill="#ffffff"/>\n'
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto">'
    f'<path d="M0 0L8 4L0 8z" fill="{GREY}"/></marker></defs>\n'
)


def _box(x: float, y: float, w: float, lines: list[str], colour: str, bold: bool = False) -> str:
    height = 14 + 20 * len(lines)
    text = ""
    for i, line in enumerate(lines):
        weight = ' font-weight="bold"' if bold and i == 0 else ""
        text += f'<text x="{x + w / 2:g}" y="{y + 23 + 20 * i:g}" text-anchor="middle"{weight}>{line}</text>'
    frame = (
        f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{height}" rx="6" fill="{colour}" stroke="{GREY}"/>'
    )
    return frame + text + "\n"


def _arrow(x1: float, y1: float, x2: float, y2: float, text: str = "", right: bool = True) -> str:
    label = ""
    if text:
        x, y = (x1 + x2) / 2 + (8 if right else -8), (y1 + y2) / 2 + 4
        anchor = "start" if right else "end"
        label = f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="14" fill="{GREY}">{text}</text>'
    line = (
        f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{GREY}" stroke-width="1.5" marker-end="url(#tip)"/>'
    )
    return line + label + "\n"


def _text(x: float, y: float, text: str, anchor: str = "middle", colour: str = INK, size: int = 14) -> str:
    """Write a line, with white around it where it crosses another line."""
    look = f'font-size="{size}" fill="{colour}" stroke="#ffffff" stroke-width="5" paint-order="stroke"'
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" {look}>{text}</text>\n'


def _title(text: str) -> str:
    return f'<text x="115" y="24" text-anchor="middle" font-weight="bold">{text}</text>\n'


def _write(name: str, wide: str, narrow: str) -> None:
    path = IMAGES / f"{name}.svg"
    path.write_text(wide + "</svg>\n", encoding="utf-8")
    narrow_file(path).write_text(narrow + "</svg>\n", encoding="utf-8")


QUESTIONS = (
    (["Do the means of the arms change with time?"], ["GLRKLUCB (abruptly)", "DiscountedThompson (slowly)"]),
    (
        ["Must each decision be random,", "with a logged probability?"],
        ["ThompsonBeta", "KLMS (exact probabilities)"],
    ),
    (
        ["Are rewards revenue:", "mostly zero, now and then a sale?"],
        ["MOSSV, with sales capped", "(give the reward range)"],
    ),
    (["Is the horizon unknown?"], ["MOSSVAnytime", "ThompsonBeta"]),
    (["Is a single lost run a disaster?"], ["MOSS"]),
)
"""The questions of the decision tree, in one line or two, with the answers."""


def decision_tree() -> None:
    """Draw which policy to begin with."""
    wide, narrow, below = HEAD.format(w=760, h=90 * len(QUESTIONS) + 70), "", 10
    for i, (question, answer) in enumerate(QUESTIONS):
        y = 14 + 90 * i
        wide += _box(14, y, 410, [" ".join(question)], QUESTION) + _arrow(424, y + 17, 500, y + 17)
        wide += _text(452, y + 10, "yes", "start", GREY)
        wide += _box(500, y - 6, 246, answer, ANSWER, bold=True)
        wide += _arrow(219, y + 34, 219, y + 88, "no")
        end = below + 14 + 20 * len(question)
        narrow += _box(10, below, 340, question, QUESTION) + _arrow(225, end, 225, end + 28, "yes")
        narrow += _box(100, end + 30, 250, answer, ANSWER, bold=True)
        below = end + 64 + 20 * len(answer)
        narrow += _arrow(45, end, 45, below - 2, "no")
    wide += _box(119, 14 + 90 * len(QUESTIONS), 200, ["MOSSV"], ANSWER, bold=True)
    narrow = HEAD.format(w=NARROW, h=below + 44) + narrow + _box(10, below, 200, ["MOSSV"], ANSWER, bold=True)
    _write("decision-tree", wide, narrow)


def ask_and_tell() -> None:
    """Draw one visit: the page asks, the visitor decides, the page tells."""
    messages = (
        (0, 1, ["opens the page"]),
        (1, 2, ['ask(request="visit 17")']),
        (2, 1, ["C, on disk before", "it is returned"]),
        (1, 0, ["button C"]),
        (0, 1, ["signs up"]),
        (1, 2, ['tell(request="visit 17",', "reward=1)"]),
    )

    def drawn(xs: list[int], names: list[str], width: int, size: int, wraps: bool) -> str:
        svg, y = "", 84
        for place, (start, end, lines) in enumerate(messages):
            shown = lines if wraps else [" ".join(lines)]
            if place == 4:
                svg += _text(xs[0] - width / 2, y - 8, "a minute later", "start", GREY)
                y += 24
            y += 18 * (len(shown) - 1)
            tip = xs[end] - (6 if start < end else -6)
            for line, text in enumerate(reversed(shown)):
                svg += _text((xs[start] + tip) / 2, y - 8 - 17 * line, text, size=size)
            svg += f'<path d="M{xs[start]} {y}H{tip}" stroke="{GREY}" stroke-width="1.5" '
            svg += 'marker-end="url(#tip)"/>\n'
            y += 32
        end = (xs[2] + width / 2, "end") if wraps else (xs[2], "middle")
        svg += _text(end[0], y, "C becomes likelier", end[1], GREY)
        lines = ""
        for x, name in zip(xs, names, strict=True):
            lines += _box(x - width / 2, 12, width, [name], QUESTION, bold=True)
            lines += f'<path d="M{x} 48V{y + 12}" stroke="{GREY}" stroke-dasharray="4 4"/>\n'
        return HEAD.format(w=xs[2] + width // 2 + 10, h=y + 24) + lines + svg

    wide = drawn([110, 360, 610], ["visitor", "your web page", "agent (choices.db)"], 180, 14, wraps=False)
    narrow = drawn([50, 155, 310], ["visitor", "page", "agent"], 80, 12, wraps=True)
    _write("ask-and-tell", wide, narrow)


def one_file_or_a_server() -> None:
    """Draw the road from one process to many hosts: who talks to which store."""
    file = ["choices.db (SQLite)"]
    parts = (
        _title("one host")
        + _box(30, 44, 170, ["worker", "lr.open_agent(...)"], QUESTION)
        + _arrow(115, 98, 115, 188)
        + _box(30, 190, 170, file, ANSWER),
        _title("several services")
        + _box(0, 44, 110, ["page"], QUESTION)
        + _box(120, 44, 110, ["app"], QUESTION)
        + _arrow(55, 78, 95, 116)
        + _arrow(175, 78, 135, 116)
        + _box(30, 118, 170, ["lowregret serve"], SERVER)
        + _arrow(115, 152, 115, 188)
        + _box(30, 190, 170, file, ANSWER),
        _title("several hosts")
        + "".join(
            _box(x, 44, 110, ["host"], QUESTION)
            + _arrow(x + 55, 78, x + 55, 116)
            + _box(x, 118, 110, ["lowregret"], SERVER)
            + _arrow(x + 55, 152, 115, 188)
            for x in (0, 120)
        )
        + _box(30, 190, 170, ["PostgreSQL"], ANSWER),
    )
    wide, narrow = HEAD.format(w=760, h=250), HEAD.format(w=NARROW, h=3 * 240 + 10)
    for place, part in enumerate(parts):
        wide += f'<g transform="translate({10 + 255 * place} 0)">\n{part}</g>\n'
        narrow += f'<g transform="translate(65 {240 * place})">\n{part}</g>\n'
    _write("one-file-or-a-server", wide, narrow)
