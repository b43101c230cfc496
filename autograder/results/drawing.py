"""Small charts for the report: inline SVG with a text for people who cannot see it.

Colors come from the page's style, so that light and dark need no second drawing.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH, HEIGHT = 420, 190
LEFT, RIGHT, TOP, BOTTOM = 14, 14, 18, 40


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: a solid part, and one on top that may still change."""

    label: str
    solid: int
    open: int = 0

    @property
    def whole(self) -> int:
        """Both parts."""
        return self.solid + self.open


def histogram(bars: list[Bar], end: str, axis: str, title: str, words: str) -> Markup:
    """Bars with their counts, each labeled where it begins, and where the last ends.

    ``words`` say the same to those who do not see them.
    """
    most = max((bar.whole for bar in bars), default=0) or 1
    step = (WIDTH - LEFT - RIGHT) / len(bars)
    floor = HEIGHT - BOTTOM
    scale = (floor - TOP) / most
    parts = [
        line(LEFT, floor, WIDTH - RIGHT, floor, "axis"),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, axis, "middle"),
    ]
    for place, bar in enumerate(bars):
        x = LEFT + place * step
        solid, whole = floor - bar.solid * scale, floor - bar.whole * scale
        if bar.solid:
            parts.append(box(x + 2, solid, step - 4, floor - solid, "solid"))
        if bar.open:
            parts.append(box(x + 2.75, whole + 0.75, step - 5.5, solid - whole, "open"))
        if bar.whole:
            parts.append(text(x + step / 2, whole - 4, str(bar.whole), "middle"))
        if place % 2 == 0 or len(bars) < 7:
            parts.append(text(x, floor + 16, bar.label, "middle"))
    parts.append(text(WIDTH - RIGHT, floor + 16, end, "middle"))
    return drawn(WIDTH, HEIGHT, title, words, parts)


def share_bar(share: float | None) -> Markup:
    """A share of 1 as a bar; the number stands beside it."""
    filled = 120 * min(max(share or 0.0, 0.0), 1.0)
    parts = [box(0.5, 1.5, 119, 9, "track"), box(0, 1, filled, 10, "solid")]
    return drawn(120, 12, "", "", parts)


def correlation_mark(value: float | None) -> Markup:
    """A number from −1 to 1 as a mark on a line; the middle is 0."""
    parts = [line(0, 6, 120, 6, "axis"), line(60, 1, 60, 11, "axis")]
    if value is not None:
        kind = "good" if value >= 0.2 else "bad"
        x = 60 + 54 * min(max(value, -1.0), 1.0)
        parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="6" r="5"/>')
    return drawn(120, 12, "", "", parts)


def drawn(width: int, height: int, title: str, words: str, parts: list[str]) -> Markup:
    """An SVG with a text for those who do not see it, or hidden from them without."""
    told = f'role="img" aria-label="{escape(words)}"' if words else 'aria-hidden="true"'
    kind = "chart" if height > 20 else "mark"
    head = f'<svg class="{kind}" viewBox="0 0 {width} {height}" {told}>'
    name = f"<title>{escape(title)}</title>" if title else ""
    return Markup("".join([head, name, *parts, "</svg>"]))


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    size = f'width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size} rx="1.5"/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line class="{kind}" {ends}/>'


def text(x: float, y: float, words: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {place}>{escape(words)}</text>"
