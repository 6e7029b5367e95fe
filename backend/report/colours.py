"""Colours of figures in the light theme, with their counterparts in the dark theme.

A figure is drawn in light colours; `drawing.py` replaces them by the page's CSS variables for a figure in a
page, so that it follows the theme. The colours of series are Okabe and Ito's, which colour-blind people can
distinguish.
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
"""By light colour: its CSS variable in the page, and its value in the dark theme."""
