"""Typeset the formulas in the prose of the documentation, which are plain text in its sources.

``D_i^2 <= K^(1/2)`` becomes D with a subscript and a superscript, the sign for "at most", and so on. A
paragraph that is indented by four spaces, outside a list, is a formula on a line of its own.
"""

from __future__ import annotations

import re

SIGNS = {
    "<=": "≤",
    ">=": "≥",
    "sqrt(": "√(",
    "psi": "&psi;",
    "rho": "&rho;",
    "eps": "&epsilon;",
    "sigma": "&sigma;",
    "Delta": "&Delta;",
    "r-hat": "r̂",
    "v-hat": "v̂",
}
"""What is written in the sources, and what is shown."""

_NOT_PROSE = r"```.*?^```|``.*?``|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)|^#.*?$|</?[A-Za-z][^>\n]*>"
_SIGN = re.compile(r"<=|>=|(?<![\w-])(?:sqrt\(|(?:psi|rho|eps|sigma|Delta|[rv]-hat)(?![a-zA-Z]))")
_SUBSCRIPT = re.compile(r"(?<!\w)(\w\u0302?|&\w+;)_(?:\{(\w)_(\w)\}|\{([^}]+)\}|(inf|\w|\\?\*)(?![a-zA-Z]))")
_POWER = re.compile(r"(?<=[\w)>;])\^(?:\(([^()]*)\)|(-?[\d.]*\d|-?\w))")
_DISPLAYED = re.compile(r"(?<=\n\n) {4}([^\s*-].*)(?=\n\n)")


def typeset(markdown: str) -> str:
    """Return a page with its formulas typeset."""
    pieces = re.split(f"({_NOT_PROSE})", markdown, flags=re.DOTALL | re.MULTILINE)
    return "".join(piece if place % 2 else _shown(piece) for place, piece in enumerate(pieces))


def _shown(text: str) -> str:
    """Return prose with its formulas typeset."""
    text = _DISPLAYED.sub(r'<p class="formula">\1</p>', text)
    text = _SIGN.sub(lambda found: SIGNS[found[0]], text)
    text = _SUBSCRIPT.sub(_subscript, text)
    return _POWER.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", text)


def _subscript(found: re.Match[str]) -> str:
    if found[2]:
        return f"{found[1]}<sub>{found[2]}<sub>{found[3]}</sub></sub>"
    below = found[4] or found[5]
    return f"{found[1]}<sub>{'&#42;' if below[-1] == '*' else below}</sub>"
