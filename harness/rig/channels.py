"""One channel of one device, as a rig file names it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Annotated, cast

from pydantic import BeforeValidator, ConfigDict, ValidationInfo

from harness.rig.device import Section
from harness.verdicts import as_toml


class Channel(Section):
    """A device's channel; `invert` where it is read or driven the other way round."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    device: str
    channel: str
    invert: bool = False

    def __str__(self) -> str:
        return f"{self.device}:{self.channel}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Give ` (did you mean X?)`, or nothing if no known word is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _parse(value: object, info: ValidationInfo) -> object:
    """Read `"device:channel"`, an alias of `[signals]`, or a table with channel and invert."""
    if isinstance(value, Channel):
        return value
    invert: object = False
    spelled = value
    if isinstance(value, dict):
        extra = set(value) - {"channel", "invert"}
        if extra:
            word = min(extra)
            hint = did_you_mean(word, ("channel", "invert"))
            raise ValueError(f"channel and invert only, found {word!r}{hint}")
        spelled, invert = value.get("channel"), value.get("invert", False)
        if not isinstance(invert, bool):
            raise ValueError(  # noqa: TRY004 - pydantic gathers ValueError only
                f"invert = true or false, found {as_toml(invert)}"
            )
    if not isinstance(spelled, str):
        raise ValueError(  # noqa: TRY004 - pydantic gathers ValueError only
            f'a channel as "device:channel", found {as_toml(spelled)}'
        )
    signals = cast("dict[str, Channel]", (info.context or {}).get("signals", {}))
    if spelled in signals:
        named = signals[spelled]
        return named.model_copy(update={"invert": named.invert != invert})
    device, colon, channel = spelled.partition(":")
    if not colon or not device or not channel:
        hint = did_you_mean(spelled, signals)
        raise ValueError(
            f'a channel as "device:channel" or the name of a signal, found {spelled!r}{hint}'
        )
    return {"device": device, "channel": channel, "invert": invert}


ChannelRef = Annotated[Channel, BeforeValidator(_parse)]
"""A channel as written in a rig file."""
