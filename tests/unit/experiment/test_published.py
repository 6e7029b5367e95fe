"""The papers' figures: as they stand in the papers' own text, and as they are read off."""

import math
import re
from pathlib import Path

import pytest

from backend.analysis.planned_spreads import without_pilot
from backend.experiment.judgments.real_or_fake import INFINITY, TIME
from backend.experiment.published import (
    CELEBA,
    CIFAR,
    CORRELATIONS,
    FFHQ,
    IMAGENET,
    MODELS,
    TESTS,
    TIME_CELEBA,
    TIME_FFHQ,
    Printed,
)

PAPERS = Path(__file__).resolve().parents[4] / "shared" / "papers"
BY_LABEL = {model.label: model for model in MODELS}


@pytest.fixture(scope="module")
def workshop():
    path = PAPERS / "hype-workshop-2019.txt"
    if not path.exists():
        pytest.skip("the workshop paper's text is not here")
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def main_paper():
    """The main paper's text with ASCII signs, in which a number follows a minus sign directly."""
    path = PAPERS / "hype-neurips-2019.txt"
    if not path.exists():
        pytest.skip("the main paper's text is not here")
    return re.sub(r" *– *", "-", path.read_text("utf-8").replace("−", "-"))


def printed(text, before, name):
    """Return the cells of a model's row in the table whose caption begins with `before`."""
    rows = text[: text.index(before)].rsplit("Rank", 1)[1]
    return next(line.split("\t")[2:] for line in rows.splitlines() if line.split("\t")[1:2] == [name])


@pytest.mark.parametrize(
    ("label", "name", "percent_table", "time_table"),
    [
        ("StyleGAN CelebA-64", "StyleGAN _{trunc}", "Table 3: ", "Table 1: "),
        ("ProGAN CelebA-64", "ProGAN", "Table 3: ", "Table 1: "),
        ("BEGAN CelebA-64", "BEGAN", "Table 3: ", "Table 1: "),
        ("WGAN-GP CelebA-64", "WGAN-GP", "Table 3: ", "Table 1: "),
        ("StyleGAN trunc FFHQ", "StyleGAN _{trunc}", "Table 4: ", "Table 2: "),
        ("StyleGAN no-trunc FFHQ", "StyleGAN _{no-trunc}", "Table 4: ", "Table 2: "),
    ],
)
def test_scores_and_sds_stand_so_in_the_workshop_paper(workshop, label, name, percent_table, time_table):
    model = BY_LABEL[label]

    assert printed(workshop, percent_table, name)[0] == f"{model.percent}%"
    assert printed(workshop, time_table, name)[:2] == [f"{model.ms}", f"{model.ms_std}"]


def test_the_bootstrap_sds_are_those_of_table_6(workshop):
    names = ("StyleGAN", "ProGAN", "BEGAN", "WGAN-GP", "StyleGAN _{trunc}", "StyleGAN _{no-trunc}")
    table = workshop[workshop.index("Table 6: ") : workshop.index("Table 7: ")]

    for model, name in zip(MODELS, names, strict=True):
        rows = re.findall(rf"^{re.escape(name)}\t([\d.]+)\t([\d.]+)\t[^\t]+\t(\d+)$", table, re.MULTILINE)
        assert {int(drawn): float(std) for std, _, drawn in rows} == model.percent_stds
        # the same data as the scores: the means are, to what resampling adds
        assert all(abs(float(mean) - model.percent) < 0.1 for _, mean, _ in rows)


def test_the_main_paper_prints_the_same_scores(main_paper):
    for model, row in zip(MODELS, (
        "1 StyleGANtrunc 50.7% 62.2% 39.3% 1.3", "2 ProGAN 40.3% 46.2% 34.4% 0.9",
        "3 BEGAN 10.0% 6.2% 13.8% 1.6", "4 WGAN-GP 3.8% 1.7% 5.9% 0.6",
        "1 StyleGANtrunc 27.6% 28.4% 26.8% 2.4", "2 StyleGANno-trunc 19.0% 18.5% 19.5% 1.8",
    ), strict=True):  # fmt: skip
        assert row in main_paper
        assert f" {model.percent}% " in row
    for model, row in zip(
        MODELS[4:], ("StyleGANtrunc 363.2 32.1", "StyleGANno-trunc 240.7 29.9"), strict=True
    ):
        assert row in main_paper
        assert row.endswith(f" {model.ms} {model.ms_std}")


def test_sds_between_evaluators_are_read_off_beside_the_score_they_belong_to():
    sds = {spread.model: math.sqrt(spread.observed) for spread in without_pilot(TIME)}

    # W, tables 1 and 2: 35.7, 8.7 and 32.1 ms of 30 evaluators; a bootstrap has n for n - 1
    assert sds["StyleGAN CelebA-64"] == pytest.approx(35.7 * 30 / math.sqrt(29))
    assert sds["BEGAN CelebA-64"] == pytest.approx(48.47, abs=0.01)
    assert sds["StyleGAN trunc FFHQ"] == pytest.approx(178.82, abs=0.01)
    assert [one.percent_sd for one in MODELS] == [6.9, 4.8, 8.4, 2.7, 13.4, 9.7]
    assert [spread.observed * 29 / 30 for spread in without_pilot(INFINITY)] == pytest.approx(
        [one.percent_sd**2 for one in MODELS]
    )


@pytest.mark.parametrize(
    "table", [TIME_FFHQ, CELEBA, FFHQ, *IMAGENET, CIFAR], ids=lambda table: f"{table.where} {table.data}"
)
def test_every_number_of_a_row_stands_so_in_the_main_paper(main_paper, table):
    names = {"StyleGAN (truncated)": "StyleGANtrunc", "StyleGAN": "StyleGANno-trunc",
             "BigGAN (truncated)": "BigGantrunc", "BigGAN": "BigGanno-trunc"}  # fmt: skip
    kind = {"lemon": "Lemon", "library": "Library", "French horn": "French Horn",
            "baseball": "Baseball Player"}  # fmt: skip
    of_class = table.data.removeprefix("ImageNet-5 ")
    lines = main_paper.splitlines()

    for row in table.rows:
        ends = f"{row.std} {row.ci[0]}-{row.ci[1]}"
        name = names.get(row.model, row.model)
        if table.method == "time":
            assert any(line.endswith(f"{name} {row.score} {ends}") for line in lines)
            continue
        if of_class != table.data:
            name = f"{name} {kind.get(of_class, of_class)}"
        digits = 2 if table in IMAGENET else 1
        metrics = f"{row.kid:.3f} {row.fid:.{digits}f} {row.precision:.3f}"
        numbers = f"{row.score}% {row.errors[0]}% {row.errors[1]}% {ends} {metrics}"
        assert any(line.upper().endswith(f"{name} {numbers}".upper()) for line in lines), numbers


def test_intervals_of_hype_time_on_celeba_stand_so_in_the_workshop_paper(workshop):
    names = ("StyleGAN _{trunc}", "ProGAN", "BEGAN", "WGAN-GP")

    for row, name in zip(TIME_CELEBA.rows, names, strict=True):
        assert printed(workshop, "Table 1: ", name)[2] == f"{row.ci[0]} – {row.ci[1]}"


def test_tests_stand_so_in_the_main_paper(main_paper):
    text = re.sub(r"\s+", "", main_paper)

    for test in TESTS:
        if test.value:
            p = test.p.text if test.p.text[0] == "<" else f"={test.p.text}"
            assert f"({test.statistic}={test.value.text},p{p})".replace(" ", "") in text


def test_correlations_stand_so_in_the_papers(main_paper, workshop):
    of_main, of_workshop = (re.sub(r"\s+", "", text) for text in (main_paper, workshop))

    for found in CORRELATIONS:
        if found.where.startswith("W"):
            assert f"\\rho={found.rho.text}$" in of_workshop
        else:
            rho, p = (re.escape(number.text).replace("0\\.", "0?\\.") for number in (found.rho, found.p))
            assert re.search(rf"ρ={rho},p={p}\)", of_main), found


@pytest.mark.parametrize(
    ("text", "ends"),
    [("404.4", (404.35, 404.45)), ("-0.029", (-0.0295, -0.0285)), ("0.0", (-0.05, 0.05)),
     ("< 0.001", (0, 0.001)), ("> 0.05", (0.05, 1))],
)  # fmt: skip
def test_a_printed_number_stands_for_all_that_round_to_it(text, ends):
    assert Printed(text).ends == pytest.approx(ends)
