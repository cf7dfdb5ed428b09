"""The packages that draw charts, which the extra ``plots`` installs."""

from typing import TYPE_CHECKING

from lowregret._common.extras import import_extra

if TYPE_CHECKING:
    import altair as alt
    import vl_convert
else:
    alt, vl_convert = (import_extra("plots", name) for name in ("altair", "vl_convert"))

__all__ = ["alt", "vl_convert"]
