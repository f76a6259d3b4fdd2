"""Independent masters against the slaves: minimalmodbus and pymodbus, no code of ours."""

import time

import minimalmodbus
import pytest
from pymodbus.client import ModbusSerialClient


@pytest.fixture
def peer(bench):
    client = ModbusSerialClient(bench.endpoints["inputs"], baudrate=115200, timeout=1, retries=0)
    assert client.connect()
    yield client
    client.close()


def test_pymodbus_reads_the_references(peer):
    bits = peer.read_discrete_inputs(0, count=64, device_id=1).bits
    assert not bits[62]
    assert bits[63]


def test_pymodbus_sees_the_exception(peer):
    reply = peer.read_coils(0, count=8, device_id=1)
    assert reply.isError()
    assert reply.exception_code == 1


def test_minimalmodbus_presses_and_reads(bench):
    keys = minimalmodbus.Instrument(bench.endpoints["keys"], 1)
    inputs = minimalmodbus.Instrument(bench.endpoints["inputs"], 1)
    for each in (keys, inputs):
        each.serial.baudrate = 115200
        each.serial.timeout = 1
    for channel in (0, 1, 1):
        keys.write_bit(channel, 1)
        time.sleep(0.012)
        keys.write_bit(channel, 0)
        time.sleep(0.008)
    time.sleep(0.03)
    assert bench.do("state")["entered"] == ["1", "2", "2"]
    assert sum(inputs.read_bits(0, 50, functioncode=2)) == len(bench.do("state")["lit"])
    with pytest.raises(minimalmodbus.IllegalRequestError):
        inputs.read_bits(60, 8, functioncode=2)
    for each in (keys, inputs):
        each.serial.close()
