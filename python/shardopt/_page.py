# SPDX-License-Identifier: GPL-3.0-or-later
"""A page of the program inside a notebook."""

from __future__ import annotations

import html


def framed(page: str, height: int) -> str:
    """The page in a frame of its own, whose style touches nothing else. A sandbox without permissions: pages run no script
    and load nothing, and here they could not."""
    return (
        f'<iframe sandbox title="shardopt" style="width: 100%; height: {height}px; border: 0" '
        f'srcdoc="{html.escape(page)}"></iframe>'
    )
