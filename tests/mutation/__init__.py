"""Measure whether the tests notice small defects: mutants of modules that must be right.

A mutant is a copy of the project in which one operator, constant, condition or loop differs. `python -m
tests.mutation` (`make mutants`) runs the tests once to record which of them execute which lines (`lines.py`),
draws mutants at random places of each module (`mutants.py`, by cosmic-ray's operators), and runs each against
the tests that execute the changed line: first the fast ones, then the slow ones (`trials.py`).
"""

MODULES = (
    "backend/experiment/staircase.py",
    "backend/experiment/sampling.py",
    "backend/experiment/session.py",
    "backend/payment/ledger.py",
    "backend/payment/payer.py",
    "backend/task/answering.py",
    "backend/analysis/table/evaluator_values.py",
    "backend/analysis/distributions/bootstrap.py",
    "backend/task/place_check.py",
    "backend/web/authorisation.py",
)
"""The modules whose errors cost answers, money, or truth."""
