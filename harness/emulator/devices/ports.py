"""Puts every device of a rig file on its wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from harness.emulator.bench import Bench
from harness.emulator.devices.line_server import LineServer
from harness.emulator.devices.modbus_model import ModbusModel, is_press
from harness.emulator.devices.modbus_points import ModbusPoints
from harness.emulator.devices.rtu import RtuBus, Slave, disguise_function, disguise_unit
from harness.emulator.devices.tty import Tty
from harness.emulator.devices.waveshare import WaveshareInputs, WaveshareRelay
from harness.emulator.rigfile import Device, RigFileError, table

EMULATED = "emulated"


def is_emulated(device: Device) -> bool:
    """Tell whether a device's place is ours to fill."""
    return any(
        device.settings.get(key) == EMULATED for key in ("port", "address", "source", "resource")
    )


def install(bench: Bench) -> None:
    """Serve every emulated device but the cameras. Raises `RigFileError` for an unknown driver."""
    buses: dict[str, RtuBus] = {}
    for device in bench.rig.devices.values():
        if not is_emulated(device) or device.driver in ELSEWHERE:
            continue
        install_one = _INSTALLERS.get(device.driver)
        if install_one is None:
            raise RigFileError(
                f"{bench.rig.path}: devices.{device.name}.driver: {device.driver!r} is not "
                f"emulated; emulated are {', '.join(sorted({*_INSTALLERS, *ELSEWHERE}))}"
            )
        install_one(bench, device, buses)
    for bus in buses.values():
        bus.start()


def _bus(bench: Bench, device: Device, buses: dict[str, RtuBus]) -> RtuBus:
    """Give the device's bus: its own, or the one that `[emulator.options.buses]` puts it on."""
    shared = table(bench.rig.options, "buses", "emulator.options.")
    name = next(
        (bus for bus, names in shared.items() if device.name in cast("list[str]", names)),
        device.name,
    )
    baud = device.whole("baud", 9600)
    bus = buses.get(name)
    if bus is None:
        tty = Tty(bench.folder / name, baud)
        bench.on_close(tty.close)
        bus = buses[name] = RtuBus(bench.timeline, tty, baud)
    elif bus.baud != baud:
        raise RigFileError(
            f"{bench.rig.path}: devices.{device.name}.baud: {baud} on a bus of {bus.baud} baud"
        )
    bench.endpoints[device.name] = str(bus.tty.path)
    bench.unplug[device.name] = bus.tty.unplug
    bench.plug[device.name] = bus.tty.plug
    return bus


def _attach(
    bench: Bench,
    device: Device,
    buses: dict[str, RtuBus],
    model: ModbusModel,
    answers_broadcast: frozenset[int] = frozenset(),
) -> RtuBus:
    bus, unit = _bus(bench, device, buses), device.whole("unit", 1)
    if unit in bus.slaves:
        raise RigFileError(
            f"{bench.rig.path}: devices.{device.name}.unit: {unit} is twice on one bus"
        )
    link = bench.links[device.name]
    link.is_press = lambda frame: is_press(frame[1:-2])
    link.disguises = {
        "unit": disguise_unit,
        "function": disguise_function,
        "short": lambda reply: reply[:-3],
    }
    link.takes_refusal = link.has_baud = True
    link.occupy = bus.tty.occupy
    bus.slaves[unit] = Slave(model, link, answers_broadcast)
    return bus


def _waveshare_relay(bench: Bench, device: Device, buses: dict[str, RtuBus]) -> None:
    model = WaveshareRelay(
        bench.timeline,
        bench.wiring,
        device.name,
        unit=device.whole("unit", 1),
        baud=device.whole("baud", 9600),
        channels=device.whole("channels", 8),
    )
    bus = _attach(bench, device, buses, model, frozenset({3}))
    model.on_new_unit = lambda unit: bus.move(model.unit, unit)


def _waveshare_inputs(bench: Bench, device: Device, buses: dict[str, RtuBus]) -> None:
    model = WaveshareInputs(
        bench.wiring,
        device.name,
        device.whole("unit", 1),
        device.whole("baud", 9600),
        device.whole("channels", 8),
    )
    bus = _attach(bench, device, buses, model, frozenset({3}))
    model.on_new_unit = lambda unit: bus.move(model.unit, unit)


def _modbus_rtu(bench: Bench, device: Device, buses: dict[str, RtuBus]) -> None:
    _attach(bench, device, buses, _points(bench, device))


def _points(bench: Bench, device: Device) -> ModbusPoints:
    area = device.text("area", "discrete")
    if area not in ("discrete", "coil"):
        raise RigFileError(
            f"{bench.rig.path}: devices.{device.name}.area: expected discrete or coil, "
            f"found {area!r}"
        )
    return ModbusPoints(
        bench.wiring,
        device.name,
        area=area,
        base=device.whole("base", 0),
        channels=device.whole("channels", 8),
        outputs=frozenset(map(int, bench.wiring.outputs(device.name))),
    )


def _desk(bench: Bench, device: Device, _buses: dict[str, RtuBus]) -> None:
    server = LineServer("desk", bench.desk.reply)
    bench.on_close(server.close)
    bench.endpoints[device.name] = server.address
    bench.unplug[device.name] = server.close
    bench.plug[device.name] = server.open


Installer = Callable[[Bench, Device, dict[str, RtuBus]], None]

_INSTALLERS: dict[str, Installer] = {
    "waveshare-relay": _waveshare_relay,
    "waveshare-inputs": _waveshare_inputs,
    "modbus-rtu": _modbus_rtu,
    "operator": _desk,
}
ELSEWHERE = ("camera", "emulator-control")
"""Drivers whose devices are served by the process itself."""
