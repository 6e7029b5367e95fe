"""Colours of figures, named in light, with their dark counterparts.

A figure is drawn in light; `drawing.py` turns its colours into the page's own where it stands in a page,
so that it follows light and dark. Those of series are Okabe and Ito's, which colour-blind people tell apart.
"""

INK = "#1d2329"
QUIET = "#59626b"
LINE = "#d5d2cc"
CARD = "#ffffff"
TINT = "#cfe0ec"
ACCENT = "#1f5f8b"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#56b4e9", "#e69f00")

VARIABLES = {
    INK: ("--ink", "#e9e7e3"),
    QUIET: ("--quiet", "#a5adb5"),
    LINE: ("--line", "#3a4148"),
    CARD: ("--card", "#22272c"),
    TINT: ("--tint", "#2c475b"),
    ACCENT: ("--accent", "#8fc4ea"),
    **{
        light: (f"--series-{i}", dark)
        for i, (light, dark) in enumerate(
            zip(SERIES, ("#5cb3e6", "#ff9a52", "#4fcfa5", "#d98fcf", "#a5dcff", "#ffc94d"), strict=True), 1
        )
    },
}
"""By colour in light: the page's variable of it, and its value in dark."""
