import numpy as np
import pytest

from backend.stimuli.distortions.lab import from_lab, to_lab
from backend.stimuli.distortions.photometric import color_shift, contrast, lightness_shift, saturation
from tests.unit.stimuli.distortions.pictures import photograph


@pytest.fixture
def lab():
    """Colours well inside of sRGB, so that no shift of these tests is clipped."""
    rng = np.random.default_rng(3)
    return np.stack([rng.uniform(40, 60, (20, 20)), *rng.uniform(-8, 8, (2, 20, 20))], axis=-1)


@pytest.mark.parametrize("direction", [1, -1])
def test_a_lightness_shift_changes_lightness_alone(lab, direction):
    made = to_lab(lightness_shift(from_lab(lab), 12, direction))

    assert made - lab == pytest.approx(np.broadcast_to([12 * direction, 0, 0], lab.shape), abs=1e-6)


@pytest.mark.parametrize(
    ("hue_deg", "moved"), [(0, (10, 0)), (90, (0, 10)), (180, (-10, 0)), (270, (0, -10))]
)
def test_a_color_shift_moves_every_colour_towards_a_hue(lab, hue_deg, moved):
    made = to_lab(color_shift(from_lab(lab), 10, hue_deg))

    assert made - lab == pytest.approx(np.broadcast_to([0, *moved], lab.shape), abs=1e-6)


@pytest.mark.parametrize(("change", "direction", "ratio"), [(0.5, 1, 1.5), (0.8, -1, 0.2)])
def test_contrast_scales_the_differences_of_lightness_about_their_mean(lab, change, direction, ratio):
    made = to_lab(contrast(from_lab(lab), change, direction))

    assert made[..., 0].mean() == pytest.approx(lab[..., 0].mean())
    assert made[..., 0].std() == pytest.approx(ratio * lab[..., 0].std())
    assert made[..., 1:] == pytest.approx(lab[..., 1:], abs=1e-6)


@pytest.mark.parametrize(("change", "direction", "ratio"), [(0.5, 1, 1.5), (0.8, -1, 0.2)])
def test_saturation_scales_chroma_and_leaves_lightness(lab, change, direction, ratio):
    made = to_lab(saturation(from_lab(lab), change, direction))

    assert made[..., 0] == pytest.approx(lab[..., 0], abs=1e-6)
    assert made[..., 1:] == pytest.approx(ratio * lab[..., 1:], abs=1e-6)


def test_the_strongest_desaturation_leaves_grey():
    made = saturation(photograph().astype(np.float64), 1, -1)

    assert np.ptp(made, axis=-1).max() < 0.01
