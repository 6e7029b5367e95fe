"""Firefox and WebKit for the browser tests: installed browsers, driven over their own protocols.

Playwright drives builds of its own only; these are the browsers of the system. Their pages have those calls
of Playwright's `Page` that the tests use (`page.Page`), so that one test runs in three engines.
"""

import glob

PROGRAMS = {
    "Firefox": {"firefox-esr": "/usr/bin/firefox-esr", "xvfb": "/usr/bin/Xvfb"},
    "WebKit": {
        "webkit2gtk-driver": "/usr/bin/WebKitWebDriver",
        "libwebkit2gtk-4.1-0": "/usr/lib/*/webkit2gtk-4.1/MiniBrowser",
        "xvfb": "/usr/bin/Xvfb",
    },
}
"""By engine: Debian's packages, and the program that is needed of each."""


def missing_packages(engine: str) -> list[str]:
    """Return the packages that an engine needs and that are not installed."""
    return [package for package, program in PROGRAMS[engine].items() if not glob.glob(program)]


def program(engine: str, package: str) -> str:
    """Return the path of a program; its package must be installed."""
    return glob.glob(PROGRAMS[engine][package])[0]
