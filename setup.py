"""Puts a copy of `zappa_settings.json`, which Zappa reads from the project's root, into the package."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithSettings(build_py):
    """`build_py`, which leaves out files that lie outside the packages."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_file("zappa_settings.json", str(Path(self.build_lib, "deploy", "zappa_settings.json")))


setup(cmdclass={"build_py": WithSettings})
