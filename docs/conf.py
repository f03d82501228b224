"""The documentation site: `make docs` builds it from the pages of this folder and the docstrings of the package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent / "_ext")]

import deepcrib  # noqa: E402

project = "deepcrib"
author = "deepcrib contributors"
copyright = "2026, deepcrib contributors"
version = release = deepcrib.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "generated_pages",
]
exclude_patterns = ["_build", "_ext"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["ref.python", "misc.highlighting_failure"]  # types of one name in two modules; csv

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
autodoc_preserve_defaults = True
autodoc_default_options = {"exclude-members": "__new__, __init__"}
add_module_names = False
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"deepcrib {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
copybutton_exclude = ".linenos, .gp, .go"
