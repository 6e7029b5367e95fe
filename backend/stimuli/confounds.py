"""Differences between a model's source files and the reals' that no processing can hide."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from backend.stimuli.images import Preprocessing, SourceFacts
from backend.stimuli.srgb import Treatment

_TREATMENTS: dict[Treatment, str] = {
    "16 bits": "had 16 bits a channel, scaled to 8",
    "CMYK": "were in CMYK, converted to sRGB",
    "profile": "had a colour profile other than sRGB, converted to sRGB",
    "odd profile": "had a colour profile that does not fit them, left aside",
    "transparency": "had transparency, laid on white",
    "frames": "had several frames or pages, of which the first is shown",
    "turned": "were turned upright as their EXIF says",
}


_EVEN = 0.8
"""Brought to this share of their size and back, images resampled by a few pixels before and others have noise
whose SD differs by 1% to 7%, where it was 10% to 20%."""


@dataclass(frozen=True)
class Difference:
    """One difference between the files of the reals and those of a model."""

    what: Literal["compression", "sharpness", "colour"]
    model: str
    reals: str
    """What the reals are, in a few words."""
    fakes: str
    """What the model's samples are."""
    remedy: str | None
    """The step of `preprocess` that brings both sides to one; None if there is none, or it was taken."""
    is_preprocessed: bool
    """Whether both sides went through that loss."""
    note: str
    """All of it as a sentence."""


def differences(
    sides: Mapping[str | None, Sequence[SourceFacts]], size_px: int, losses: Preprocessing
) -> Iterator[Difference]:
    """Yield each difference between the reals and a model.

    Args:
        sides: facts of the files, by model; under None, those of the reals.
        size_px: side at which all stimuli are shown.
        losses: the losses that both sides were put through.
    """
    reals = sides.get(None, [])
    models = {model: fakes for model, fakes in sides.items() if model is not None}
    for model, fakes in models.items() if reals else ():
        yield from _compression(model, reals, fakes, losses)
        yield from _sharpness(model, reals, fakes, size_px, losses)
        ours, theirs = _share(reals, "has_colour"), _share(fakes, "has_colour")
        if abs(ours - theirs) > 0.05:
            shares = f"{100 * ours:.0f}%", f"{100 * theirs:.0f}%"
            yield Difference(
                "colour",
                model,
                f"{shares[0]} in colour",
                f"{shares[1]} in colour",
                None,
                False,
                f"{shares[0]} of the reals and {shares[1]} of the fakes of {model} are in colour",
            )


def suggested(differences: Sequence[Difference]) -> list[str]:
    """Return the steps of `preprocess` that bring the reals and all models to one loss."""
    values: dict[str, list[int]] = {}
    for difference in differences:
        if difference.remedy:
            kind, _, value = difference.remedy.partition(":")
            values.setdefault(kind, []).append(int(value))
    return [f"{kind}:{min(values[kind])}" for kind in ("size", "jpeg") if kind in values]


def treatments(sides: Mapping[str | None, Sequence[SourceFacts]]) -> Iterator[str]:
    """Yield one sentence for each conversion that some files needed to become upright 8-bit sRGB images.

    Args:
        sides: facts of the files, by model; under None, those of the reals.
    """
    for treatment, what in _TREATMENTS.items():
        counts = {
            model: (sum(treatment in facts.treatments for facts in side), len(side))
            for model, side in sides.items()
        }
        if any(count for count, _ in counts.values()):
            yield f"{_of_each(counts)} {what}"


def cropped(sides: Mapping[str | None, Sequence[SourceFacts]]) -> Iterator[str]:
    """Yield a sentence if the shares of images that were cropped to squares differ between sides."""
    counts = {model: (sum(not facts.is_square for facts in side), len(side)) for model, side in sides.items()}
    shares = [count / of for count, of in counts.values() if of]
    if shares and max(shares) - min(shares) > 0.05:
        yield f"{_of_each(counts)} were cropped to squares, which can show in how they are framed"


def _of_each(counts: Mapping[str | None, tuple[int, int]]) -> str:
    return ", ".join(_of(model, *count) for model, count in counts.items())


def _of(model: str | None, count: int, of: int) -> str:
    return f"{count} of {of} {'reals' if model is None else f'fakes of {model}'}"


def _compression(
    model: str, reals: Sequence[SourceFacts], fakes: Sequence[SourceFacts], losses: Preprocessing
) -> Iterator[Difference]:
    ours, theirs = _quality(reals), _quality(fakes)
    if _is_lossy(reals) != _is_lossy(fakes) or (_is_lossy(reals) and _codec(reals) != _codec(fakes)):
        each = _formats(reals), _formats(fakes)
        before, enough = f"{each[0]} and the fakes of {model} {each[1]}", min(ours or 100, theirs or 100)
    elif ours and theirs and abs(ours - theirs) >= 8:
        each = f"JPEG of quality {ours}", f"JPEG of quality {theirs}"
        before, enough = f"{each[0]} and the fakes of {model} of {theirs}", min(ours, theirs)
    elif ours and theirs and abs(_share(reals, "has_full_chroma") - _share(fakes, "has_full_chroma")) > 0.5:
        each = _chroma(reals), _chroma(fakes)
        before, enough = (
            f"JPEG and so were the fakes of {model}, but only one side's colours were coarser",
            100,
        )
    else:
        return
    is_done = any(quality <= enough for quality in losses.jpeg_qualities)  # a finer one keeps the traces
    to = min(90, enough)
    if is_done:
        rest = f"both went through JPEG of quality {min(losses.jpeg_qualities)}"
        note = f"the reals were {before}; {rest}"
    else:
        note = (
            f"the reals were {before}: traces of compression can give them away; "
            f"--preprocess jpeg:{to} puts both through the same loss"
        )
    yield Difference("compression", model, *each, None if is_done else f"jpeg:{to}", is_done, note)


def _sharpness(
    model: str,
    reals: Sequence[SourceFacts],
    fakes: Sequence[SourceFacts],
    size_px: int,
    losses: Preprocessing,
) -> Iterator[Difference]:
    ours, theirs = _enlarged(reals, size_px), _enlarged(fakes, size_px)
    small, large = sorted([ours, theirs])
    if large / small >= 1.1:
        each = f"enlarged {ours:.2g} times", f"enlarged {theirs:.2g} times"
        lower = max(round(size_px / large), 8)
        before = f"the reals were {each[0]} and the fakes of {model} {each[1]}"
    elif abs(_softened(reals, size_px) - _softened(fakes, size_px)) > 0.5:
        shares = [f"{100 * _softened(side, size_px):.0f}%" for side in (reals, fakes)]
        each = f"{shares[0]} resampled by a few pixels", f"{shares[1]} resampled by a few pixels"
        lower = max(round(_EVEN * size_px), 8)
        before = (
            f"of the reals {shares[0]} were resampled by a few pixels, of the fakes of {model} {shares[1]}"
        )
    else:
        return
    is_done = bool(losses.sizes_px) and min(losses.sizes_px) <= lower
    if is_done:
        note = f"{before}; both went through {min(losses.sizes_px)} px"
    else:
        note = (
            f"{before}: sharpness can give them away; --preprocess size:{lower} brings both to one sharpness"
        )
    yield Difference("sharpness", model, *each, None if is_done else f"size:{lower}", is_done, note)


def _chroma(side: Sequence[SourceFacts]) -> str:
    return f"JPEG with {'full' if _share(side, 'has_full_chroma') > 0.5 else 'coarser'} colours"


def _formats(side: Sequence[SourceFacts]) -> str:
    return " and ".join(name for name, _ in Counter(facts.format for facts in side).most_common(2))


def _codec(side: Sequence[SourceFacts]) -> str:
    """Return the most frequent format; MPO files hold JPEGs."""
    counts = Counter("JPEG" if facts.format == "MPO" else facts.format for facts in side)
    return counts.most_common(1)[0][0]


def _is_lossy(side: Sequence[SourceFacts]) -> bool:
    return sum(facts.format in ("JPEG", "MPO", "WEBP", "AVIF") for facts in side) > len(side) / 2


def _quality(side: Sequence[SourceFacts]) -> int | None:
    """Return the median JPEG quality of a side that is mostly JPEG; None for other sides."""
    known = [facts.jpeg_quality for facts in side if facts.jpeg_quality]
    return round(median(known)) if len(known) > len(side) / 2 else None


def _enlarged(side: Sequence[SourceFacts], size_px: int) -> float:
    """Return how many times the median image was enlarged; 1 if it was made smaller."""
    return max(1.0, size_px / median(facts.short_side_px for facts in side))


def _softened(side: Sequence[SourceFacts], size_px: int) -> float:
    """Return the share of images resampled by less than a tenth, which takes an eighth of fine noise."""
    sizes = [facts.short_side_px for facts in side]
    return sum(size != size_px and size_px / 1.1 < size < size_px * 1.1 for size in sizes) / len(sizes)


def _share(side: Sequence[SourceFacts], name: str) -> float:
    return sum(getattr(facts, name) for facts in side) / len(side)
