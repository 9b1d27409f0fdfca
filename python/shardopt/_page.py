# SPDX-License-Identifier: GPL-3.0-or-later
"""A page of the program inside a notebook."""

from __future__ import annotations

import html


def framed(page: str, height: int) -> str:
    """The page in a frame of its own, whose style touches nothing else. In its sandbox only scripts run, of an origin of
    their own: by the policy of the page those of the page alone, and nothing is loaded."""
    return (
        f'<iframe sandbox="allow-scripts" title="shardopt" style="width: 100%; height: {height}px; border: 0" '
        f'srcdoc="{html.escape(page)}"></iframe>'
    )
