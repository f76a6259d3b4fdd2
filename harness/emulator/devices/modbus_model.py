"""What a Modbus slave does with a request, apart from the wire it came over.

Source: MODBUS Application Protocol Specification V1.1b3, sections 6 (functions) and 7 (exceptions).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

ILLEGAL_FUNCTION = 1
ILLEGAL_ADDRESS = 2
ILLEGAL_VALUE = 3


class ModbusError(Exception):
    """The slave refuses a request; `code` is the exception code of the reply."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(f"exception {code}")


class ModbusModel:
    """A slave without any points: every function is illegal. Devices override what they have."""

    def read_coils(self, address: int, count: int) -> Sequence[bool]:
        """Read outputs (function 1)."""
        raise ModbusError(ILLEGAL_FUNCTION)

    def read_discretes(self, address: int, count: int) -> Sequence[bool]:
        """Read inputs (function 2)."""
        raise ModbusError(ILLEGAL_FUNCTION)

    def read_holding(self, address: int, count: int) -> Sequence[int]:
        """Read settings (function 3)."""
        raise ModbusError(ILLEGAL_FUNCTION)

    def write_coil(self, address: int, value: int) -> None:
        """Write one output (function 5); the value as sent, 0xFF00 on and 0x0000 off."""
        raise ModbusError(ILLEGAL_FUNCTION)

    def write_register(self, address: int, value: int) -> None:
        """Write one setting (function 6)."""
        raise ModbusError(ILLEGAL_FUNCTION)

    def write_coils(self, address: int, values: Sequence[bool]) -> None:
        """Write several outputs (function 15)."""
        raise ModbusError(ILLEGAL_FUNCTION)


def answer(model: ModbusModel, request: bytes) -> bytes:
    """Give the reply to a request, both as PDU (function code and data), exceptions included."""
    try:
        return _answer(model, request)
    except ModbusError as error:
        return bytes([request[0] | 0x80, error.code])


def is_press(request: bytes) -> bool:
    """Tell whether a request PDU switches some output on."""
    function = request[0]
    if function == 5:
        return len(request) == 5 and request[3:5] != b"\x00\x00"
    return function == 15 and len(request) > 6 and any(request[6:])


def _answer(model: ModbusModel, request: bytes) -> bytes:
    function = request[0]
    if function in (1, 2):
        address, count = _fields(request, 5)
        if not 1 <= count <= 2000:
            raise ModbusError(ILLEGAL_VALUE)
        read = model.read_coils if function == 1 else model.read_discretes
        data = _pack(read(address, count))
        return bytes([function, len(data)]) + data
    if function == 3:
        address, count = _fields(request, 5)
        if not 1 <= count <= 125:
            raise ModbusError(ILLEGAL_VALUE)
        words = model.read_holding(address, count)
        return bytes([function, 2 * len(words)]) + struct.pack(f">{len(words)}H", *words)
    if function in (5, 6):
        address, value = _fields(request, 5)
        (model.write_coil if function == 5 else model.write_register)(address, value)
        return request
    if function == 15:
        if len(request) < 6:
            raise ModbusError(ILLEGAL_VALUE)
        address, count = struct.unpack(">HH", request[1:5])
        data = request[6:]
        if not 1 <= count <= 1968 or request[5] != len(data) or len(data) != (count + 7) // 8:
            raise ModbusError(ILLEGAL_VALUE)
        model.write_coils(address, [bool(data[bit // 8] >> bit % 8 & 1) for bit in range(count)])
        return request[:5]
    raise ModbusError(ILLEGAL_FUNCTION)


def _fields(request: bytes, length: int) -> tuple[int, int]:
    if len(request) != length:
        raise ModbusError(ILLEGAL_VALUE)
    address, value = struct.unpack(">HH", request[1:5])
    return address, value


def _pack(bits: Sequence[bool]) -> bytes:
    data = bytearray((len(bits) + 7) // 8)
    for index, bit in enumerate(bits):
        data[index // 8] |= bit << index % 8
    return bytes(data)
