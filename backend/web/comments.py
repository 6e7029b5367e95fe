"""Scripts and style sheets without their comments and indentation, as they are served.

Sources stay as they are written and nothing is built: every token and every line keeps its place, so that
an error reports the line of the source. Between two tokens a comment or a run of blanks becomes one blank,
or, where it contains ends of lines, these alone. Strings, template literals and regular expressions are
tokens, and are left as they are.
"""

import re

_QUOTED = r'"(?:[^"\\\n]|\\[\s\S])*"|\'(?:[^\'\\\n]|\\[\s\S])*\''
_REGEX = r"/(?:[^\[/\\\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*"
_COMMENT = r"/\*[\s\S]*?\*/"
_SCRIPT = re.compile(
    rf"(?P<between>(?:[ \t\r\n]|{_COMMENT}|//[^\n]*)+)|(?P<word>[\w$]+)|(?P<quoted>{_QUOTED})"
    rf"|(?P<regex>{_REGEX})|(?P<sign>[\s\S])"
)
"""Matches the next token of a script, or what stands between two. A slash may begin a division instead."""
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)")
"""Matches a template literal from where its text begins up to its end, or to the value that follows."""
_SHEET = re.compile(rf"(?P<between>(?:[ \t\r\n]|{_COMMENT})+)|{_QUOTED}|url\([^\"')]*\)|[\s\S]")
_BEFORE_A_REGEX = frozenset(
    ["return", "typeof", "instanceof", "in", "of", "new", "delete", "void", "throw", "case", "do", "else"]
)
"""Words after which a slash begins a regular expression; after any other word or value it divides."""
_VALUE_ENDS = frozenset(")]}")


def without_comments(source: str, suffix: str) -> str:
    """Return a file without comments: a script for `.js`, a style sheet for `.css`, others as they are."""
    if suffix == ".js":
        return _script(source)
    return _SHEET.sub(_shortened, source).lstrip(" ") if suffix == ".css" else source


def _script(source: str) -> str:
    parts: list[str] = []
    braces: list[bool] = []  # of each open brace, whether it began a value in a template literal
    at, follows_value = 0, False
    while match := _SCRIPT.match(source, at):
        token, kind = match[0], match.lastgroup
        if kind == "between":
            token = _gap(match)
        elif kind == "regex" and follows_value:
            token = "/"
        if kind == "sign" and (token == "`" or (token == "}" and braces and braces[-1])):
            if token == "}":
                braces.pop()
            literal = _TEMPLATE.match(source, at + 1)
            if literal is None:
                raise ValueError(f"a template literal at character {at} has no end")
            token += literal[0]
            if token.endswith("${"):
                braces.append(True)
        elif token == "{":
            braces.append(False)
        elif token == "}" and braces:
            braces.pop()
        parts.append(token)
        at = match.end() if kind == "between" else at + len(token)
        if kind != "between":
            follows_value = _ends_value(token, kind)
    return "".join(parts).lstrip(" ")


def _ends_value(token: str, kind: str | None) -> bool:
    if kind == "sign":
        return token in _VALUE_ENDS or (len(token) > 1 and token.endswith("`"))
    return token not in _BEFORE_A_REGEX and token != "/"


def _shortened(match: re.Match[str]) -> str:
    """Return a token of a style sheet as it is; where comments alone parted two, an empty one still does."""
    gap = match["between"]
    if not gap:
        return match[0]
    return _gap(match) if re.sub(_COMMENT, "", gap) else f"/*{chr(10) * gap.count(chr(10))}*/"


def _gap(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") or " "
