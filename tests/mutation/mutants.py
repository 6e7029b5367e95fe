"""Draw mutants at random places of a module, by cosmic-ray's operators."""

import ast
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """A module with one place changed.

    Attributes:
        module: the path below the project's root.
        lines: the lines of the smallest statement that holds the place, without the statements inside it.
        before: the changed lines as they were, stripped; `after`: as the mutant has them.
        code: the whole module.
    """

    module: str
    lines: range
    before: str
    after: str
    code: str


def draw(root: Path, module: str, count: int, rng: random.Random) -> list[Mutant]:
    """Return at most `count` mutants of a module, each at another place.

    Places are drawn without replacement, then one of the changes that operators make there. Mutants that do
    not compile, or differ in annotations only, are none.
    """
    source = (root / module).read_text("utf-8")
    places = _places(source)
    mutants = []
    for place in rng.sample(sorted(places), len(places)):
        if len(mutants) == count:
            break
        changes = rng.sample(places[place], len(places[place]))
        tried = (_mutant(module, source, *change) for change in changes)
        if mutant := next(filter(None, tried), None):
            mutants.append(mutant)
    return mutants


def _places(source: str) -> dict[tuple, list[tuple[str, int]]]:
    import parso.python.tree  # noqa: F401  (cosmic-ray imports parso in an order that fails by itself)
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    tree, places = get_ast(source), defaultdict(list)
    for name in sorted(operator_names()):
        operator_class = get_operator(name)
        if operator_class.arguments() or name.endswith(("NoOp", "RemoveDecorator")):
            continue
        positions = [p for node in ast_nodes(tree) for p in operator_class().mutation_positions(node)]
        for occurrence, position in enumerate(positions):
            places[position].append((name, occurrence))
    return places


def _mutant(module: str, source: str, operator: str, occurrence: int) -> Mutant | None:
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    code = mutate_code(source, get_operator(operator)(), occurrence)
    if code is None or (changed := _bare(code)) is None or changed == _bare(source):
        return None
    old, new = source.splitlines(), code.splitlines()
    first = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    return Mutant(module, _statement(source, first + 1), old[first].strip(), new[first].strip(), code)


def _bare(code: str) -> str | None:
    """Return a module without annotations, in a form to compare; None if it does not compile."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
    return ast.dump(tree)


def _statement(source: str, line: int) -> range:
    spans = [
        (node.lineno, node.body[0].lineno - 1 if getattr(node, "body", None) else node.end_lineno)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt)
    ]
    around = [(first, max(first, last)) for first, last in spans if first <= line <= max(first, last)]
    first, last = min(around, key=lambda span: span[1] - span[0], default=(line, line))
    return range(first, last + 1)
