"""`sicbo-hil key`: the key that seals are signed with."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.group()
def command() -> None:
    """Make a signing key, or tell which one is there."""


@command.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File of the secret half; the public half goes beside it as .pub. Default: the user's"
    " data folder, where a run looks for it.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
def new(out: Path | None, as_json: bool) -> int:
    """Make a new Ed25519 key; an old one is never overwritten."""
    from harness.evidence.keys import default_key_path, make_key

    path = out or default_key_path()
    key = make_key(path)
    _tell(path, key.fingerprint, as_json=as_json)
    return 0


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
def show(as_json: bool) -> int:
    """Tell where the user's key is and what it is called."""
    from harness.evidence.keys import KeyFileError, default_key_path, load_signing_key

    path, key = default_key_path(), load_signing_key()
    if key is None:
        raise KeyFileError(
            str(path),
            expected="a signing key",
            found="none",
            remedy="make one with `sicbo-hil key new`",
        )
    _tell(path, key.fingerprint, as_json=as_json)
    return 0


def _tell(path: Path, fingerprint: str, *, as_json: bool) -> None:
    public = path.with_suffix(".pub")
    if as_json:
        told = {"key": str(path), "public_key": str(public), "fingerprint": fingerprint}
        click.echo(json.dumps(told))
        return
    click.echo(f"secret half  {path}")
    click.echo(f"public half  {public}")
    click.echo(f"fingerprint  {fingerprint}")
