"""What a test report must state beside its results (ISO/IEC 17025:2017, 7.8.2.1 and 7.8.3.1).

Each statement is made from the manifest; one that the laboratory has not given is kept with no
text, so that the report prints it as missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ONLY_THE_ITEM = "The results relate only to the items tested."
DECISION_RULE = (
    "Lamps: PASS only if exactly the winning areas are lit. Measured values: guarded acceptance "
    "(ISO/IEC Guide 98-4): PASS only if the value and its expanded uncertainty (k = 2) lie wholly "
    "within the limits, DUT_FAIL only if wholly outside, AMBIGUOUS between. A fault of the rig "
    "never becomes a pass or a fail of the table."
)
_INSPECTIONS = {
    "full": "all 216 results of each rule book",
    "cover": "a smallest set of results that lights every area",
    "minimum": "one result: the least that the rules ask for",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One statement of the report; `text` is None where it is missing."""

    label: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """A group of statements under one heading."""

    heading: str
    items: tuple[Item, ...]


def report_parts(
    manifest: Mapping[str, Any],
    summary: Mapping[str, Any],
    rig_facts: Sequence[Mapping[str, Any]] = (),
    *,
    issued: str | None = None,
) -> tuple[Part, ...]:
    """Give every statement that the report must hold, in order.

    `issued`: when, if not at the end of the run (RFC 3339, UTC).
    """
    profile = manifest.get("laboratory") or {}
    lab, customer = _of(profile, "laboratory"), _of(profile, "customer")
    method, authorised = _of(profile, "method"), _of(profile, "authorised")
    flat = {key: value for key, value in profile.items() if isinstance(value, str)}
    lab = {**flat, **lab}
    version = manifest["versions"].get("sicbo-hil")
    books = ", ".join(f"{book['book']} ({book['edition']})" for book in manifest["books"])
    program = f"sicbo-hil {version}; rule books {books}"
    return (
        Part(
            "Laboratory and customer",
            (
                Item("Laboratory", lab.get("name")),
                Item("Address", lab.get("address")),
                Item("Place of the tests", lab.get("place")),
                Item("Accreditation", lab.get("accreditation")),
                Item("Contact", lab.get("contact")),
                Item("Customer", customer.get("name")),
                Item("Customer's address", customer.get("address")),
                Item("Customer's contact", customer.get("contact")),
            ),
        ),
        Part("Item tested", tuple(_item_lines(manifest, _of(profile, "item")))),
        Part(
            "Method",
            (
                Item("Method", method.get("name") or program),
                Item("Version of the method", method.get("version") or version),
                Item("Program and rule books", program),
                Item("Results tested", _sampling(manifest, method)),
                Item(
                    "Additions to, deviations from, exclusions of the method",
                    _list(method, "deviations"),
                ),
                Item("Results from others", _list(method, "from_others")),
                Item("Decision rule", DECISION_RULE),
            ),
        ),
        Part(
            "Dates and responsibility",
            (
                Item("Received", _of(profile, "item").get("received")),
                Item(
                    "Tested",
                    f"{when(summary['started'])} to {when(summary['ended'])} (the host's clock)",
                ),
                Item("Issued", when(issued or summary["ended"])),
                Item("Operator", manifest.get("operator") or lab.get("operator")),
                Item("Authorised by", _joined(authorised.get("by"), authorised.get("title"))),
                Item("Statement", ONLY_THE_ITEM),
            ),
        ),
        Part(
            "Confidence in the rig and the program",
            (
                Item(
                    "Negative control before this run",
                    _checked(manifest, rig_facts, "negative-control"),
                ),
                Item("Fault campaign this version passed", _fact(manifest.get("campaign"))),
                Item(
                    "Last check on a reference table",
                    _checked(manifest, rig_facts, "reference-table"),
                ),
            ),
        ),
    )


def when(utc: str | None) -> str:
    """Write a time of the record (RFC 3339, UTC) as a person reads it, to the second."""
    if not utc:
        return "not known"
    return f"{utc[:10]} {utc[11:19]} UTC"


def _checked(
    manifest: Mapping[str, Any], rig_facts: Sequence[Mapping[str, Any]], topic: str
) -> str | None:
    """Give what the record tells of a check: the manifest, or facts that this run recorded."""
    told = [
        f"{fact['rig']}: {fact['what']}" + ("" if fact["good"] is not False else " (NOT good)")
        for fact in rig_facts
        if fact["topic"] == topic
    ]
    return _fact(manifest.get(topic.replace("-", "_"))) or "; ".join(dict.fromkeys(told)) or None


def _item_lines(manifest: Mapping[str, Any], item: Mapping[str, Any]) -> Iterator[Item]:
    yield Item("Description", item.get("description"))
    yield Item("Condition", item.get("condition"))
    tables = _tables(manifest)
    for rig, dut in tables.items():
        of = f" ({rig})" if len(tables) > 1 else ""
        made = _joined(item.get("maker") or dut.get("maker"), item.get("model") or dut.get("model"))
        yield Item(f"Maker and model{of}", made)
        yield Item(
            f"Serial number{of}",
            item.get("serial") or dut.get("serial_number") or dut.get("serial"),
        )
        yield Item(f"Firmware{of}", item.get("firmware") or dut.get("firmware"))
        equipment = _joined(
            f"shaker {dut['shaker']}" if "shaker" in dut else None,
            f"cover {dut['cover']}" if "cover" in dut else None,
        )
        yield Item(f"Equipment{of}", equipment)
    yield Item("Firmware's digest (SHA-256)", item.get("firmware_sha256"))


def table_identity(manifest: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Give serial number and firmware of the table tested; several are joined with commas."""
    item = _of(manifest.get("laboratory") or {}, "item")
    tables = _tables(manifest).values()
    serials = [dut.get("serial_number") or dut.get("serial") for dut in tables]
    firmwares = [dut.get("firmware") for dut in tables]
    return (
        item.get("serial") or _joined(*dict.fromkeys(serials)),
        item.get("firmware") or _joined(*dict.fromkeys(firmwares)),
    )


def _tables(manifest: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Give the table on each rig; a manifest may describe one table for all."""
    dut = manifest.get("dut") or {}
    if dut and all(isinstance(value, Mapping) for value in dut.values()):
        return dut
    return {rig["name"]: dut for rig in manifest["rigs"][:1]} or {"table": dut}


def _sampling(manifest: Mapping[str, Any], method: Mapping[str, Any]) -> str:
    inspection = str(manifest.get("inspection"))
    told = f"{inspection}: {_INSPECTIONS.get(inspection, 'as named')}"
    return f"{method['sampling']} ({told})" if method.get("sampling") else told


def _of(profile: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    found = profile.get(section)
    return found if isinstance(found, Mapping) else {}


def _list(section: Mapping[str, Any], key: str) -> str | None:
    if key not in section:
        return None
    return "; ".join(section[key]) or "none"


def _joined(*texts: str | None) -> str | None:
    return ", ".join(text for text in texts if text) or None


def _fact(value: object) -> str | None:
    if not value:
        return None
    if isinstance(value, Mapping):
        return "; ".join(f"{key.replace('_', ' ')}: {told}" for key, told in value.items())
    return str(value)
