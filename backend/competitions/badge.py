"""The badge of a model in a competition: an image for other pages, readable on light and on dark ones."""

from collections.abc import Mapping
from html import escape
from typing import Any

from backend.competitions.wording import score
from backend.report.formatting import ranks

_CHAR_PX, _PAD_PX, _HEIGHT_PX = 7.0, 9, 24
_LONGEST, _LONGEST_MODEL = 60, 40


def badge(data: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Return the badge of a row of a competition's table, as SVG.

    Both halves have backgrounds of their own with white text: contrasts 9.7 and 7.0 to 1.
    """
    model = _short(row["model"], _LONGEST_MODEL)
    left = f"{_short(data['title'], _LONGEST - len(model))}: {model}"
    place = f", rank {ranks(row['ranks'])}" if row["ranks"] else ""
    right = f"{score(row['score'], data['unit'])}{place}"
    widths = [round(_CHAR_PX * len(text)) + 2 * _PAD_PX for text in (left, right)]
    label = escape(f"{data['method_title']} of {row['model']} in {data['title']}: {right}")
    texts = "".join(
        f'<text x="{x:g}" y="16" textLength="{width - 2 * _PAD_PX}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(text)}</text>"
        for text, x, width in ((left, _PAD_PX, widths[0]), (right, widths[0] + _PAD_PX, widths[1]))
    )
    whole = sum(widths)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{_HEIGHT_PX}" '
        f'viewBox="0 0 {whole} {_HEIGHT_PX}" role="img" aria-label="{label}"><title>{label}</title>'
        f'<rect width="{whole}" height="{_HEIGHT_PX}" rx="4" fill="#1f5a8a"/>'
        f'<rect width="{widths[0]}" height="{_HEIGHT_PX}" rx="4" fill="#444"/>'
        f'<rect x="{widths[0] - 4}" width="4" height="{_HEIGHT_PX}" fill="#444"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11.5">'
        f"{texts}</g></svg>"
    )


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
