"""Sphinx settings: Markdown through MyST, nothing else."""

project = "tightrope"
author = "The tightrope authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "alabaster"
