"""Sphinx's settings of the documentation site, which `make docs` builds from the pages beside this file."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from backend import __version__

project = "openhype"
author = "the authors of openhype"
copyright = "the authors of openhype; MIT licence"
release = version = __version__
language = "en"
highlight_language = "none"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_site", "conf.py"]
html_theme = "furo"
html_title = f"openhype {release}"
html_static_path = ["site.css", "site.js"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": False, "top_of_page_buttons": []}

# Anchors as forges write them, which links between pages use.
myst_heading_anchors = 4
# [text](built:gallery/…) is a file that `make docs` makes beside the pages.
myst_url_schemes = {"http": None, "https": None, "mailto": None, "built": "{{path}}"}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
suppress_warnings = ["myst.strikethrough"]
