"""check.py SHIM: tables between pyarrow and the library SHIM, both ways. Any difference is an AssertionError."""

import ctypes
import datetime
import decimal
import sys

import pyarrow as pa

shim = ctypes.CDLL(sys.argv[1])
shim.gauze_first_integers.restype = ctypes.c_void_p


class Structures:
    """Room for an ArrowSchema and an ArrowArray."""

    def __init__(self):
        self.schema = (ctypes.c_byte * 72)()
        self.array = (ctypes.c_byte * 80)()

    def addresses(self):
        return [ctypes.c_void_p(ctypes.addressof(x)) for x in (self.schema, self.array)]

    def give(self, batch):
        batch._export_to_c(ctypes.addressof(self.array), ctypes.addressof(self.schema))
        return self.addresses()

    def take(self):
        batch = pa.RecordBatch._import_from_c(ctypes.addressof(self.array), ctypes.addressof(self.schema))
        batch.validate(full=True)
        return batch


def round_trip(batch):
    given, taken = Structures(), Structures()
    code = shim.gauze_round_trip(*given.give(batch), *taken.addresses())
    return taken.take() if code == 0 else code


def check_what_we_export():
    taken = Structures()
    shim.gauze_sample(*taken.addresses())
    batch = taken.take()
    zero = datetime.datetime(1970, 1, 1)
    assert batch.to_pydict() == {
        "b": [True, False, None],
        "i": [-2**63, 0, 2**63 - 1],
        "m": [None, 2.0, -3.0],
        "r": [0.1, 5e-324, -1e300],
        "s": ["it's", None, "naïve"],
        "d": [datetime.date(1, 1, 1), None, datetime.date(2024, 2, 29)],
        "w": [zero - datetime.timedelta(microseconds=1), zero, datetime.datetime(2023, 11, 14, 22, 13, 20)],
    }, batch.to_pydict()
    assert [str(t) for t in batch.schema.types] == [
        "bool", "int64", "double", "double", "dictionary<values=string, indices=int32, ordered=0>", "date32[day]",
        "timestamp[us]"], batch.schema


def check_what_we_import():
    moment = datetime.datetime(2023, 11, 14, 22, 13, 20, 500000)
    columns = {
        "bool": (pa.bool_(), True), "int8": (pa.int8(), -7), "uint8": (pa.uint8(), 200), "int16": (pa.int16(), -300),
        "uint16": (pa.uint16(), 60000), "int32": (pa.int32(), -70000), "uint32": (pa.uint32(), 4000000000),
        "int64": (pa.int64(), -2**63), "float": (pa.float32(), 0.5), "double": (pa.float64(), 0.1),
        "string": (pa.string(), "naïve"), "large": (pa.large_string(), "large"), "date": (pa.date32(), moment.date()),
        "date64": (pa.date64(), moment.date()), "ms": (pa.timestamp("ms"), moment), "us": (pa.timestamp("us"), moment),
        "ns": (pa.timestamp("ns"), moment), "zone": (pa.timestamp("us", tz="UTC"), moment),
        "coded": (pa.dictionary(pa.int8(), pa.string()), "coded"),
        "codes": (pa.dictionary(pa.int32(), pa.string()), "coded"),
    }
    rows = 100  # nulls in every byte of the bitmap; then a slice, whose offset is not that of a byte
    batch = pa.RecordBatch.from_arrays(
        [pa.array([None if i % 7 == 3 else value for i in range(rows)], type=t) for t, value in columns.values()],
        names=list(columns))
    for part in (batch, batch.slice(13, 70), batch.slice(40, 0)):
        expected = {name: [None if x is None else columns[name][1] for x in part.column(name).to_pylist()]
                    for name in columns}
        back = round_trip(part).to_pydict()
        for name in columns:
            assert back[name] == expected[name], (name, back[name], expected[name])
    exact = pa.RecordBatch.from_arrays([pa.array([decimal.Decimal("-12345.67"), None], type=pa.decimal128(20, 2)),
                                        pa.array([2**64 - 1, None], type=pa.uint64()),
                                        pa.nulls(2)], names=["decimal", "uint64", "null"])
    assert round_trip(exact).to_pydict() == {"decimal": [-12345.67, None], "uint64": [2.0**64, None],
                                             "null": [None, None]}


def check_what_we_refuse():
    for array in (pa.array([[1, 2]]), pa.array([b"bytes"]), pa.array([{"a": 1}])):
        code = round_trip(pa.RecordBatch.from_arrays([array], names=["x"]))
        assert isinstance(code, int) and code != 0, array.type


def check_that_memory_is_shared_and_given_back():
    before = pa.total_allocated_bytes()
    given = Structures()
    array = pa.array(range(100000), type=pa.int64())
    batch = pa.RecordBatch.from_arrays([array], names=["x"])
    assert shim.gauze_first_integers(*given.give(batch)) == array.buffers()[1].address
    round_trip(batch)
    del array, batch
    assert pa.total_allocated_bytes() == before, "memory was not given back"


for check in (check_what_we_export, check_what_we_import, check_what_we_refuse,
              check_that_memory_is_shared_and_given_back):
    check()
print("pyarrow", pa.__version__, "and Gauze agree")
