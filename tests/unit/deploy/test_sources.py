"""Each package of AWS begins with the sources that it has: no import needs a part that is left out."""

import shutil
import subprocess
import sys

import pytest

from deploy import package


@pytest.mark.parametrize(
    ("stage", "module"),
    [("api", "deploy.api"), ("score", "deploy.api"), ("score", "deploy.work"), ("panel", "deploy.tasks")],
)
def test_what_a_function_starts_with_is_in_its_package(tmp_path, stage, module):
    for source in package.sources(stage):
        target = tmp_path / source.relative_to(package.ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    begin = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    program = f"{begin}import {module}, backend; print(backend.__file__)"

    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True)

    assert done.stderr == ""
    assert done.stdout.strip() == str(tmp_path / "backend" / "__init__.py")
