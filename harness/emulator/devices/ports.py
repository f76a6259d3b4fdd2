"""Puts every device of a rig file on its wire, by its driver's name."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from harness.emulator.bench import Bench
from harness.emulator.devices import adam4000, adapter_lines, modbus_tcp, numato, rtu
from harness.emulator.devices.adapter_lines import Adapter, shaker_adapter, terminal_adapter
from harness.emulator.devices.daq import IDENTITIES, Daq
from harness.emulator.devices.modbus_model import ModbusModel, is_press
from harness.emulator.devices.modbus_points import ModbusPoints
from harness.emulator.devices.rtu import Slave
from harness.emulator.devices.supply import supply_reply
from harness.emulator.devices.tcp_server import line_server
from harness.emulator.devices.text_port import Speaker, ways_to_disguise
from harness.emulator.devices.waveshare import WaveshareInputs, WaveshareRelay
from harness.emulator.devices.wires import Wires
from harness.emulator.rigfile import Device, RigFileError, number

EMULATED = "emulated"
CAMERAS = ("camera", "layout-camera")
CONTROL = "emulator-control"
_PLACES = ("port", "address", "source", "resource")
_NEWLINES = {"lf-cr": b"\n\r", "cr": b"\r", "cr-lf": b"\r\n"}


def is_emulated(device: Device) -> bool:
    """Tell whether a device's place is ours to fill."""
    return any(device.settings.get(key) == EMULATED for key in _PLACES)


def install(bench: Bench) -> None:
    """Serve every emulated device but cameras. Raises `RigFileError` for an unknown driver."""
    wires = Wires(bench)
    for device in bench.rig.devices.values():
        if not is_emulated(device) or device.driver in (*CAMERAS, CONTROL):
            continue
        install_one = _INSTALLERS.get(device.driver)
        if install_one is None:
            raise RigFileError(
                f"{bench.rig.path}: devices.{device.name}.driver: {device.driver!r} is not "
                f"emulated; emulated are {', '.join(sorted({*_INSTALLERS, *CAMERAS, CONTROL}))}"
            )
        install_one(bench, device, wires)
    wires.start()


def _rtu(bench: Bench, device: Device, wires: Wires, model: ModbusModel) -> None:
    bus, unit = wires.rtu(device), device.whole("unit", 1)
    if unit in bus.slaves:
        raise RigFileError(f"{bench.rig.path}: devices.{device.name}.unit: {unit} twice on one bus")
    link = bench.links[device.name]
    link.is_press = lambda frame: is_press(frame[1:-2])
    link.takes_refusal = True
    link.disguises = {
        "unit": rtu.disguise_unit,
        "function": rtu.disguise_function,
        "short": lambda reply: reply[:-3],
    }
    broadcast: frozenset[int] = frozenset()
    if isinstance(model, WaveshareRelay | WaveshareInputs):
        broadcast = frozenset({3})
        model.on_new_unit = lambda new_unit: bus.move(model.unit, new_unit)
    bus.slaves[unit] = Slave(model, link, broadcast)


def _waveshare_relay(bench: Bench, device: Device, wires: Wires) -> None:
    model = WaveshareRelay(
        bench.timeline,
        bench.wiring,
        device.name,
        unit=device.whole("unit", 1),
        baud=device.whole("baud", 9600),
        channels=device.whole("channels", 8),
    )
    _rtu(bench, device, wires, model)


def _waveshare_inputs(bench: Bench, device: Device, wires: Wires) -> None:
    model = WaveshareInputs(
        bench.wiring,
        device.name,
        device.whole("unit", 1),
        device.whole("baud", 9600),
        device.whole("channels", 8),
    )
    _rtu(bench, device, wires, model)


def _modbus_rtu(bench: Bench, device: Device, wires: Wires) -> None:
    _rtu(bench, device, wires, _points(bench, device))


def _points(bench: Bench, device: Device) -> ModbusPoints:
    channels = device.whole("channels", 8)
    outputs: Sequence[int] = [int(each) for each in bench.wiring.outputs(device.name)]
    if device.text("direction", "in") == "out":
        outputs = range(channels)
    return ModbusPoints(
        bench.wiring,
        device.name,
        area=_one_of(bench, device, "area", ("discrete", "coil")),
        base=device.whole("base", 0),
        channels=channels,
        outputs=frozenset(outputs),
    )


def _modbus_tcp(bench: Bench, device: Device, wires: Wires) -> None:
    link = bench.links[device.name]
    link.is_press = lambda frame: is_press(frame[7:])
    link.takes_refusal = True
    link.disguises = {
        "unit": modbus_tcp.disguise_unit,
        "function": modbus_tcp.disguise_function,
        "short": modbus_tcp.disguise_short,
    }
    server = modbus_tcp.modbus_tcp_server(
        bench.timeline, _points(bench, device), device.whole("unit", 1), link, device.name
    )
    wires.socket(device, server)


def _adam_4000(bench: Bench, device: Device, wires: Wires) -> None:
    checksum = device.flag("checksum", False)
    module = adam4000.Adam4000(
        bench.timeline,
        bench.wiring,
        device.name,
        model=_one_of(bench, device, "model", tuple(adam4000.MODELS)),
        address=device.whole("module", 1),
        checksum=checksum,
        baud=device.whole("baud", 9600),
    )
    link = bench.links[device.name]
    link.is_press = adam4000.is_press
    link.disguises = ways_to_disguise(lambda reply: adam4000.disguised(reply, checksum))
    port = wires.text(device, baud=9600, end=b"\r")
    port.speakers[device.name] = Speaker(module.answer, link)


def _numato(bench: Bench, device: Device, wires: Wires) -> None:
    options = bench.rig.options
    newline = str(options.get("numato_newline", "lf-cr"))
    if newline not in _NEWLINES:
        raise RigFileError(
            f"{bench.rig.path}: emulator.options.numato_newline: expected one of "
            f"{', '.join(_NEWLINES)}, found {newline!r}"
        )
    rate = number(options, "numato_notifications", 0.0, "emulator.options")
    rng = random.Random(bench.seed + 2)  # noqa: S311 - reproducible, not secret
    module = numato.Numato(
        bench.wiring,
        device.name,
        relays=device.whole("relays", 0),
        gpios=device.whole("gpios", 0),
        newline=_NEWLINES[newline],
        notify=lambda: rng.random() < rate,
    )
    link = bench.links[device.name]
    link.is_press = numato.is_press
    link.disguises = {"short": lambda reply: reply[:-1]}
    port = wires.text(device, baud=19200, end=b"\r", echo=True)
    port.speakers[device.name] = Speaker(module.answer, link)


def _line_shaker(bench: Bench, device: Device, wires: Wires) -> None:
    _adapter(bench, device, wires, shaker_adapter(bench))


def _line_terminal(bench: Bench, device: Device, wires: Wires) -> None:
    _adapter(bench, device, wires, terminal_adapter(bench))


def _adapter(bench: Bench, device: Device, wires: Wires, adapter: Adapter) -> None:
    link = bench.links[device.name]
    link.is_press = adapter_lines.is_press
    link.disguises = ways_to_disguise(adapter_lines.disguised)
    port = wires.text(device, baud=115200, end=b"\n")
    port.speakers[device.name] = Speaker(adapter.answer, link)


def _scpi_daq(bench: Bench, device: Device, wires: Wires) -> None:
    lamps = bench.rig.lamp_settings
    daq = Daq(
        bench.timeline,
        bench.wiring,
        device.name,
        dialect=_one_of(bench, device, "dialect", tuple(IDENTITIES)),
        used=bench.wiring.inputs(device.name),
        volts=number(lamps, "reference_volts", 5.0, "lamps"),
        channel_s=number(bench.rig.options, "daq_channel_ms", 0.5, "emulator.options") / 1000,
        rng=random.Random(bench.seed + 3),  # noqa: S311
    )
    _instrument(bench, device, wires, daq.scpi.reply)


def _scpi_supply(bench: Bench, device: Device, wires: Wires) -> None:
    dialect = _one_of(bench, device, "dialect", ("e36", "dp800", "spd3303x"))
    _instrument(bench, device, wires, supply_reply(bench.timeline, bench.power, dialect))


def _instrument(
    bench: Bench, device: Device, wires: Wires, reply: Callable[[bytes], bytes]
) -> None:
    link = bench.links[device.name]
    link.disguises = {"short": lambda said: said[: max(1, len(said) // 2)]}
    wires.socket(device, line_server(device.name, reply, link))


def _desk(bench: Bench, device: Device, wires: Wires) -> None:
    wires.socket(device, line_server("desk", bench.desk.reply, bench.links[device.name]))


def _one_of(bench: Bench, device: Device, key: str, allowed: tuple[str, ...]) -> str:
    value = device.text(key, allowed[0])
    if value not in allowed:
        raise RigFileError(
            f"{bench.rig.path}: devices.{device.name}.{key}: expected {' or '.join(allowed)}, "
            f"found {value!r}"
        )
    return value


Installer = Callable[[Bench, Device, Wires], None]

_INSTALLERS: dict[str, Installer] = {
    "waveshare-relay": _waveshare_relay,
    "waveshare-inputs": _waveshare_inputs,
    "modbus-rtu": _modbus_rtu,
    "modbus-tcp": _modbus_tcp,
    "adam-4000": _adam_4000,
    "numato": _numato,
    "line-shaker": _line_shaker,
    "line-terminal": _line_terminal,
    "scpi-daq": _scpi_daq,
    "scpi-supply": _scpi_supply,
    "operator": _desk,
}
