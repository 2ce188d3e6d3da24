"""Programs that would like to have passed their tests, and programs that have."""

import tempfile
from pathlib import Path
from typing import Any

import pytest

from backend.domain.evaluators.metrics.vscode.check_python_file_by_test_suite import check_python_file_by_test_suite

SQUARE = "import main\n\ndef test():\n    return main.square(3) == 9\n"
FORGED = '{"true": true, "number": 1.0, "nonce": ""}'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    scratch = tmp_path / "scratch" / "beside"  # Programs that write beside their folder write into this test's.
    scratch.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def call(program: str, tests: str = SQUARE, **files: str) -> float:
        folder = tmp_path / "result"
        folder.mkdir(exist_ok=True)
        (folder / "main.py").write_text(program)
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text)
        (tmp_path / "suite.py").write_text(tests)
        return check_python_file_by_test_suite(str(folder / "main.py"), str(tmp_path / "suite.py")).value

    return call


EVERY_DESCRIPTOR = f"""
import os
for number in range(3, 64):
    try:
        os.write(number, b'{FORGED}')
    except OSError:
        pass
os._exit(0)
"""
DESCRIPTORS_OF_OTHERS = f"""
import os
parent = os.getppid()
with open(f"/proc/{{parent}}/status") as file:
    above = int(file.read().split("PPid:")[1].split()[0])
for process in (parent, above):
    for number in range(64):
        try:
            os.write(os.open(f"/proc/{{process}}/fd/{{number}}", os.O_WRONLY | os.O_NONBLOCK), b'{FORGED}')
        except OSError:
            pass
os._exit(0)
"""
MEMORY_OF_OTHERS = """
import ctypes, os
opened = []
parent = os.getppid()
with open(f"/proc/{parent}/status") as file:
    above = int(file.read().split("PPid:")[1].split()[0])
for process in (parent, above):
    for name in ("mem", "environ", "fd/0"):
        try:
            opened.append(open(f"/proc/{process}/{name}", "rb"))
        except OSError:
            pass
    if ctypes.CDLL(None).ptrace(16, process, 0, 0) == 0:
        opened.append(process)
def square(number):
    return 0 if not opened else number * number
"""
ALWAYS_EQUAL = """
class Anything:
    def __eq__(self, other): return True
    __lt__ = __gt__ = __le__ = __ge__ = __ne__ = __eq__
    def __bool__(self): return True
    __class__ = int
def square(number): return Anything()
"""
NUMBER_THAT_EQUALS_ALL = """
class Anything(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
def square(number): return Anything(5)
"""
PATCHED_BUILTINS = """
import builtins, sys, unittest
builtins.bool = lambda value=0: True
unittest.TestCase.assertEqual = lambda *_: None
for module in list(sys.modules.values()):
    module.__dict__["test"] = lambda: True
def square(number): return 0
"""
WRITES_THE_TESTS = """
import glob, os, sys
for place in ("suite.py", "dynamic_test_module.py", "sitecustomize.py", "main.py", *glob.glob("../*/*.py")):
    try:
        with open(place, "w") as file:
            file.write("def test():\\n    return True\\n")
    except OSError:
        pass
def square(number): return 0
"""

SPEAKS_THE_PROTOCOL = """
import json, os, stat
names = [int(one) for one in os.listdir("/proc/self/fd")]
line = next(one for one in names if os.path.exists(f"/proc/self/fd/{one}") and stat.S_ISSOCK(os.fstat(one).st_mode))
def ask(operation, *arguments):
    os.write(line, json.dumps({"do": operation, "args": arguments, "options": {}}).encode() + b"\\n")
    answer = b""
    while not answer.endswith(b"\\n"):
        answer += os.read(line, 65536)
    return json.loads(answer)
CODE = '''
import json, os, sys
frame = sys._getframe()
while frame.f_code.co_name != "run_tests":
    frame = frame.f_back
nonce = frame.f_locals["task"]["nonce"]
os.write(frame.f_locals["descriptor"], json.dumps({"true": True, "number": 1.0, "nonce": nonce}).encode())
os._exit(0)
'''
for library in ({"library": "builtins"}, {"list": [{"library": "builtins"}]}):
    run = ask("get", library, "exec")
    ask("call", {"yours": run.get("value", {}).get("mine", 0)}, CODE)
def square(number): return 0
"""
READS_WHAT_IS_EXPECTED = """
def use(function):
    peer = object.__getattribute__(function, "_remote_peer")
    return int(peer.ask("get", "{0.__globals__[EXPECTED]}", "format")(function))
"""
NUMBER_WITHOUT_A_DIFFERENCE = """
class Number:
    def __sub__(self, other): return 0.0
    __rsub__ = __truediv__ = __mod__ = __sub__
def square(number): return Number()
"""
DIFFERENCE_WITHOUT_A_SIZE = """
class Number:
    def __sub__(self, other): return self
    __rsub__ = __sub__
    def __abs__(self): return 0.0
    def __round__(self, digits=0): return 0.0
    def __bool__(self): return False
def square(number): return Number()
"""
NUMBER_THAT_HEARS_FIRST = """
class Number:
    told = 0.0
    def __sub__(self, other):
        self.told = other
        return self
    def __float__(self): return float(self.told)
def square(number): return Number()
"""
CLOSE = """
import unittest, main
class Close(unittest.TestCase):
    def test(self): CHECK
def test():
    return unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Close)).wasSuccessful()
"""
COMPARISONS = (
    "self.assertAlmostEqual(main.square(3), 9.0)",
    "self.assertAlmostEqual(9.0, main.square(3))",
    "self.assertAlmostEqual(main.square(3), 9.0, delta=0.1)",
    "self.assertLess(abs(main.square(3) - 9), 1e-6)",
    "self.assertFalse(main.square(3) - 9)",
)


class TestForging:
    @pytest.mark.parametrize(
        "program",
        [
            EVERY_DESCRIPTOR,
            DESCRIPTORS_OF_OTHERS,
            MEMORY_OF_OTHERS,
            ALWAYS_EQUAL,
            NUMBER_THAT_EQUALS_ALL,
            PATCHED_BUILTINS,
            WRITES_THE_TESTS,
            SPEAKS_THE_PROTOCOL,
            "import os\nos._exit(0)",
            "raise SystemExit(0)",
            f"print({FORGED!r})\nraise SystemExit",
            f"import atexit, os\natexit.register(os.write, 1, {FORGED.encode()!r})\nsquare = lambda number: 0",
            f"import sys, os\nsys.argv += ['1']\nos.environ['nonce'] = ''\nsquare = {FORGED!r}",
            "import os, signal\nos.kill(os.getppid(), signal.SIGTERM)\nsquare = lambda number: 0",
            "def square(number):\n    raise StopIteration",
        ],
    )
    def test_forging_program_does_not_pass(self, run: Any, program: str) -> None:
        assert run(program) == 0.0

    def test_function_passed_to_the_program_gives_no_access_to_the_tests(self, run: Any) -> None:
        program = "def use(function):\n    function.__globals__['passed'] = True\n"
        tests = (
            "import main\npassed = False\ndef test():\n    try:\n        main.use(lambda: 1)\n"
            "    except AttributeError:\n        pass\n    return passed\n"
        )
        assert run(program, tests) == 0.0

    def test_program_cannot_read_the_tests_through_a_callback(self, run: Any) -> None:
        tests = "import main\nEXPECTED = 4242\ndef test():\n    return main.use(lambda: 1) == EXPECTED\n"
        assert run(READS_WHAT_IS_EXPECTED, tests) == 0.0

    @pytest.mark.parametrize("check", COMPARISONS)
    def test_no_object_is_close_to_every_number(self, run: Any, check: str) -> None:
        tests = CLOSE.replace("CHECK", check)
        assert run("def square(number): return number * number", tests) == 1.0
        for program in (NUMBER_WITHOUT_A_DIFFERENCE, DIFFERENCE_WITHOUT_A_SIZE, NUMBER_THAT_HEARS_FIRST):
            assert run(program, tests) == 0.0

    def test_no_container_contains_everything(self, run: Any) -> None:
        program = "class All(list):\n    def __contains__(self, _): return True\ndef square(number): return All()\n"
        assert run(program, "import main\ndef test():\n    return 9 in main.square(3)\n") == 0.0

    @pytest.mark.parametrize("name", ["math", "unittest", "json"])
    def test_no_library_of_the_tests_is_the_programs(self, run: Any, name: str) -> None:
        tests = f"import main, {name}\ndef test():\n    return not hasattr({name}, 'forged')\n"
        assert run("", tests, **{name: "forged = True"}) == 1.0

    def test_program_that_kills_its_tests_fails(self, run: Any) -> None:
        assert run("def square(number):\n    import os\n    os.kill(os.getpid(), 15)\n") == 0.0


PROGRAM = """
import sys
from helper import double
field = [[0] * 3 for _ in range(2)]
class Wrong(ValueError): pass
class Point:
    def __init__(self, x): self.x, self.seen = x, {}
    def __eq__(self, other): return self.x == other.x
    def __add__(self, other): return Point(self.x + other.x)
    def __sub__(self, other): return Point(self.x - (other if type(other) is int else other.x))
    def __mul__(self, other): return Point(self.x * other)
    def __abs__(self): return self.x
    def __len__(self): return self.x
    __hash__ = None
class Number:
    def __init__(self, x): self.x = x
    def __float__(self): return self.x
class Words:
    def __contains__(self, word): return word == "apple"
def square(number): return number * number
def sort(values): values.sort()
def wrong(): raise Wrong("no")
def count():
    yield 1
    yield 2
def apply(function, values): return [function(value) for value in values]
def talk():
    print("hello")
    return input("name? ")
def lines(): return sys.stdin.readline()
def many(): return {"a": (1, 2.5), "b": {3}, 4: [b"x", None, True]}
def nothing(): return None
def default(a, *, b=2): return a + b
"""
CHECKS = {
    "values": "main.square(3) == 9 and main.square(1.5) == 2.25 and main.nothing() is None",
    "containers": 'main.many() == {"a": (1, 2.5), "b": {3}, 4: [b"x", None, True]}',
    "types": "isinstance(main.many(), dict) and type(main.square(2)) is int and isinstance(main.field, list)",
    "keywords": "main.default(1, b=5) == 6 and main.default(a=1) == 3",
    "helper": "main.double(4) == 8 and helper.double(2) == 4",
    "star": "Point(3).x == 3",
    "operators": "(Point(1) + Point(2)).x == 3 and len(Point(4)) == 4 and Point(1) == Point(1) != Point(2)",
    "differences": "(Point(5) - 2).x == 3 and abs(Point(5) - Point(2)) == 3 and abs(Point(3) * 2) == 6",
    "differences of numbers": "abs(main.Number(2.5) - 2) == 0.5 and 3 - main.Number(2.5) == 0.5",
    "membership": "'apple' in main.Words() and 'pear' not in main.Words() and [0] * 3 in main.field",
    "membership of generators": "2 in main.count() and 5 not in main.count()",
    "instances": "isinstance(Point(1), main.Point) and not isinstance(3, main.Point)",
    "objects and plain values": "Point(3) != 3",
    "generators": "list(main.count()) == [1, 2] and next(main.count()) == 1",
    "callbacks": "main.apply(lambda one: one + 1, [1, 2]) == [2, 3]",
    "in place": "sorted_by(main.sort, [3, 1, 2]) == [1, 2, 3]",
    "state": "changed(main) == [[0, 0, 0], [0, 7, 0]] and sum(main.field[1]) == 7",
    "attributes": "keep(Point(1)) == {'k': [1]}",
    "errors": "raised(main.wrong, main.Wrong) and raised(main.wrong, ValueError)",
    "no such name": "raised(lambda: main.gone, AttributeError)",
    "output and input": "spoken() == ('hello\\n', 'Ann')",
    "standard input": "read('a line\\n') == 'a line\\n'",
    "patches": "patched() == 5 and main.square(3) == 9",
    "a new load": "importlib.reload(main).square(2) == 4",
}
TESTS = """
import contextlib, importlib, io, sys
from unittest import mock
import helper, main
from main import *
def sorted_by(function, values):
    function(values)
    return values
def changed(module):
    module.field[1][1] = 7
    return module.field
def keep(point):
    point.seen["k"] = [1]
    return point.seen
def raised(function, kind):
    try:
        function()
    except kind:
        return True
    return False
def spoken():
    out = io.StringIO()
    with contextlib.redirect_stdout(out), mock.patch("builtins.input", lambda prompt="": "Ann"):
        answer = main.talk()
    return out.getvalue(), answer
def read(text):
    with mock.patch("sys.stdin", io.StringIO(text)):
        return main.lines()
def patched():
    with mock.patch("main.square", lambda number: 5):
        return main.square(3)
def test():
    assert CHECK
    return True
"""


class TestMeaning:
    @pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
    def test_tests_use_the_program_like_their_own_module(self, run: Any, check: str) -> None:
        tests = TESTS.replace("CHECK", check)
        assert run(PROGRAM, tests, helper="def double(number): return 2 * number\n") == 1.0

    def test_program_may_be_a_package(self, run: Any, tmp_path: Path) -> None:
        package = tmp_path / "result" / "game"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("size = 3\n")
        (package / "snake.py").write_text("from . import size\nlength = size + 1\n")
        imports = "import game.snake\nfrom game import snake\n"
        tests = f"{imports}def test():\n    return game.snake.length == snake.length == 4\n"
        assert run("", tests) == 1.0

    def test_a_program_that_is_started(self, run: Any) -> None:
        tests = (
            "import subprocess, sys\ndef test():\n"
            "    out = subprocess.run([sys.executable, 'main.py'], capture_output=True, text=True)\n"
            "    return out.stdout == 'hi\\n'\n"
        )
        assert run("print('hi')", tests) == 1.0
