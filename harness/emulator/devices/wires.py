"""The wires of a bench: a port a device, or a bus for several, and the sockets of instruments."""

from __future__ import annotations

from typing import cast

from harness.emulator.bench import Bench
from harness.emulator.devices.rfc2217_port import Rfc2217Port
from harness.emulator.devices.rtu import RtuBus
from harness.emulator.devices.tcp_server import TcpServer
from harness.emulator.devices.text_port import TextPort
from harness.emulator.devices.tty import Tty
from harness.emulator.rigfile import Device, RigFileError, table


class Wires:
    """Makes ports on demand; `start` begins to serve on all of them.

    `[emulator.options.buses]` names devices that share a port, `[emulator.options] rfc2217` those
    that are reached over the network.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._buses = table(bench.rig.options, "buses", "emulator.options.")
        self._remote = cast("list[str]", bench.rig.options.get("rfc2217", []))
        self._rtu: dict[str, RtuBus] = {}
        self._text: dict[str, TextPort] = {}

    def rtu(self, device: Device) -> RtuBus:
        """Give the Modbus bus of a device."""
        name, baud = self._name(device), device.whole("baud", 9600)
        if name not in self._rtu:
            self._rtu[name] = RtuBus(self._bench.timeline, self._tty(name, baud), baud)
        bus = self._rtu[name]
        self._same_baud(device, baud, bus.port.baud)
        self._reach(device, name, bus.port.tty)
        return bus

    def text(self, device: Device, *, baud: int, end: bytes, echo: bool = False) -> TextPort:
        """Give the port of a device that speaks lines; `baud` if the rig file has none."""
        name, baud = self._name(device), device.whole("baud", baud)
        if name not in self._text:
            tty = self._tty(name, baud)
            self._text[name] = TextPort(self._bench.timeline, tty, baud, end=end, echo=echo)
        port = self._text[name]
        self._same_baud(device, baud, port.port.baud)
        self._reach(device, name, port.port.tty)
        return port

    def socket(self, device: Device, server: TcpServer) -> None:
        """Put a device on a socket."""
        self._bench.on_close(server.close)
        self._bench.endpoints[device.name] = server.address
        self._bench.unplug[device.name] = server.close
        self._bench.plug[device.name] = server.open

    def start(self) -> None:
        """Serve on every port."""
        for bus in self._rtu.values():
            bus.start()
        for port in self._text.values():
            port.start()

    def _name(self, device: Device) -> str:
        for bus, names in self._buses.items():
            if device.name in cast("list[str]", names):
                return bus
        return device.name

    def _tty(self, name: str, baud: int) -> Tty:
        if name in self._rtu or name in self._text:
            raise RigFileError(f"{self._bench.rig.path}: {name}: two protocols on one bus")
        tty = Tty(self._bench.folder / name, baud)
        self._bench.on_close(tty.close)
        return tty

    def _same_baud(self, device: Device, baud: int, of_bus: int) -> None:
        if baud != of_bus:
            raise RigFileError(
                f"{self._bench.rig.path}: devices.{device.name}.baud: {baud} on a bus of {of_bus}"
            )

    def _reach(self, device: Device, name: str, tty: Tty) -> None:
        bench = self._bench
        bench.endpoints[device.name] = str(tty.path)
        bench.unplug[device.name] = tty.unplug
        bench.plug[device.name] = tty.plug
        bench.links[device.name].has_baud = True
        bench.links[device.name].occupy = tty.occupy
        if device.name in self._remote:
            port = Rfc2217Port(tty.path, name)
            bench.on_close(port.close)
            bench.endpoints[device.name] = port.url
