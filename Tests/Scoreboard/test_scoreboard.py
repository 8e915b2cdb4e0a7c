"""The scoreboard's own tests: python3 -m unittest discover -s Tests/Scoreboard."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import board
import declared_imports
import floors
import producers
import trap_constructs
import version_floors


def line(row, figure, target="= 0", passed=True, gate=False):
    return {"row": row, "figure": figure, "unit": "u", "target": target, "passed": passed, "size": "ci", "detail": "", "gate": gate}


def row(name, gate=False, size="ci"):
    return board.Row({"id": name, "title": "t", "unit": "u", "target": "= 0", "by": ["x"], "gate": gate, "size": size})


class BoardTests(unittest.TestCase):
    def test_the_table(self):
        rows = board.table(HERE / "rows.json")
        self.assertEqual(len(rows), 109)
        self.assertEqual(sum(row.is_core for row in rows), 63)
        self.assertEqual(len({row.id for row in rows}), 109)
        kinds = {name.partition(":")[0] for row in rows for name in row.by}
        self.assertEqual(kinds - {producer.name for producer in producers.producers("ci", {"x"})}, set())

    def test_figures_and_targets(self):
        for figure, target, expected in [
            ("0.74", "<= 1.0", True), ("1.01", "<= 1.0", False), ("40", ">= 40", True), ("39 doors", ">= 40", False),
            ("0", "0", True), ("1", "= 0", False), ("1,000,000", ">= 1000000", True), ("0 of 120", "= 0", True),
            ("3 of 120", "= 0", False), ("99.9 %", "= 100 %", False), ("2x 0.93, 5x 0.91", ">= 0.9", None),
            ("0.5", "<= 0.6 and 1.0", None), ("-3", "<= 8", True), ("none", "= 0", None), ("1e-3", "<= 0.02", True),
        ]:
            self.assertEqual(board.holds(figure, target), expected, (figure, target))

    def test_the_worst_line_is_shown(self):
        result = board.results([row("A1")], [line("A1", "0"), line("A1", "4", passed=False), line("A1", "2", passed=False)], {})[0]
        self.assertEqual((result.line["figure"], result.passed, result.verdict), ("4", False, "NO, misses by 4"))
        slow = board.results([row("A6")], [line("A6", "0.2", "<= 1"), line("A6", "0.9", "<= 1"), line("A6", "0.4", "<= 1")], {})[0]
        self.assertEqual((slow.line["figure"], slow.verdict), ("0.9", "pass"))

    def test_a_figure_that_misses_is_no_pass(self):
        result = board.results([row("A6")], [line("A6", "1.5", "<= 1", passed=True)], {})[0]
        self.assertEqual((result.passed, result.verdict), (False, "NO, misses by 0.5, 50 %"))

    def test_what_was_not_run_never_passes(self):
        result = board.results([row("A2", gate=True)], [], {"A2": "fuzz was left out"})[0]
        self.assertEqual((result.passed, result.verdict, result.breaks("ci")), (False, "not run", True))
        self.assertFalse(board.results([row("A3", gate=True, size="full")], [], {})[0].breaks("ci"))
        self.assertFalse(board.results([row("A8")], [], {})[0].breaks("ci"))
        self.assertIn("not run", board.terminal([result]))
        self.assertIn("| A2 | t |  | = 0 | not run |", board.markdown([result], [("machine", "m")], "ci"))

    def test_what_was_left_out_on_purpose_breaks_nothing(self):
        result = board.results([row("A2", gate=True)], [], {}, ["x"])[0]
        self.assertEqual((result.passed, result.verdict, result.breaks("ci")), (False, "not run", False))

    def test_what_breaks_a_build(self):
        miss = [line("A6", "2", "<= 1", passed=False)]
        self.assertFalse(board.results([row("A6")], miss, {})[0].breaks("ci"))
        self.assertTrue(board.results([row("A6", gate=True)], miss, {})[0].breaks("ci"))
        miss[0]["gate"] = True
        self.assertTrue(board.results([row("A6")], miss, {})[0].breaks("ci"))

    def test_a_torn_line_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows"
            path.write_text(json.dumps(line("A1", "0")) + "\n{\"row\": \"A2\"")
            with self.assertRaises(ValueError):
                board.recorded(path)


class ProducerTests(unittest.TestCase):
    def run_one(self, command, seconds=10):
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "rows"
            rows.touch()
            outcome = producers.run(producers.Producer("p", command, seconds), "ci", rows, folder, lambda text: None)
            return outcome, board.recorded(rows)

    def test_a_command_delivers(self):
        script = "import sys; sys.path.insert(0, %r); import scoreboard; scoreboard.row('A1', figure=3, unit='u', target='>= 2', passed=True)"
        outcome, rows = self.run_one([sys.executable, "-c", script % str(HERE.parent / "PeerKit/Scripts")])
        self.assertEqual((outcome.status, [row["figure"] for row in rows]), (0, ["3"]))

    def test_a_command_that_fails_or_is_absent(self):
        outcome, _ = self.run_one(["/bin/sh", "-c", "echo first; echo the reason; exit 3"])
        self.assertEqual((outcome.status, outcome.words), (3, "the reason"))
        outcome, _ = self.run_one(["Tests/Scoreboard/nothing"])
        self.assertEqual((outcome.status, outcome.words), (None, "there is no Tests/Scoreboard/nothing"))

    def test_a_command_that_hangs_is_ended_with_its_children(self):
        with tempfile.TemporaryDirectory() as folder:
            child = Path(folder) / "child"
            outcome, _ = self.run_one(["/bin/sh", "-c", f"sleep 60 & echo $! > {child}; wait"], seconds=1)
            self.assertEqual(outcome.status, 124)
            state = Path(f"/proc/{child.read_text().strip()}/stat")

            def is_gone():
                # Gone, or a zombie that nobody has collected yet.
                try:
                    return state.read_text().rsplit(")", 1)[1].split()[0] in "ZX"
                except OSError:
                    return True

            deadline = time.monotonic() + 30
            while not is_gone() and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertTrue(is_gone())


class TrapTests(unittest.TestCase):
    def found(self, source):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.swift"
            path.write_text(source)
            return [(line, kind, bool(reason)) for line, _, kind, _, reason in trap_constructs.findings(path)]

    def test_what_stops_a_process(self):
        for text, kind in [
            ("let a = b!", "force unwrap"), ("let a = b()!.c", "force unwrap"), ("let a = b[0]!", "force unwrap"),
            ("var a: Int!", "force unwrap"), ("let a = try! b()", "try!"), ("let a = b as! C", "as!"),
            ("fatalError(\"a\")", "trap"), ("precondition(a)", "trap"), ("unowned let a: B", "unowned"),
            ("final class A: @unchecked Sendable {}", "@unchecked"),
            ("func f(b: [UInt8], at i: Int) -> UInt8 { b[i + 1] }", "subscript"),
            ("func f(a: Int) { g(UInt8(a + 200)) }", "narrower"),
        ]:
            self.assertEqual(self.found(text + "\n"), [(1, kind, False)], text)

    def test_what_does_not(self):
        for text in [
            "if a != b, !c, x.isEmpty { }", "let a = \"b!\" // c!", "let a = #\"try! \\(b)\"#", "let a = \"\\(b[\"c\"] ?? \"d!\")\"",
            "func f(b: [UInt8], at i: Int) -> UInt8? { guard i + 1 < b.count else { return nil }; return b[i + 1] }",
            "func f(b: [UInt8], i: Int) -> UInt8 { b[i & 0xFF] }", "let a = UInt8(clamping: b + 1)", "let a: [Int] = [b + 1]",
        ]:
            self.assertEqual(self.found(text + "\n"), [], text)

    def test_a_reason_stands_above(self):
        self.assertEqual(self.found("// Never empty: filled above.\nlet a = b!\n"), [(2, "force unwrap", True)])
        self.assertEqual(self.found("// Of something else.\nlet c = 1\nlet a = b!\n"), [(3, "force unwrap", False)])

    def test_every_target_is_there(self):
        for name in trap_constructs.WIRE:
            self.assertTrue(list((trap_constructs.ROOT / "Sources" / name).rglob("*.swift")), name)


class FloorTests(unittest.TestCase):
    def test_versions(self):
        self.assertTrue(version_floors.at_least("2.101.2", "2.100.0"))
        self.assertFalse(version_floors.at_least("2.99.0", "2.100.0"))
        self.assertFalse(version_floors.at_least("2.100.0-beta.1", "2.100.0"))

    @unittest.skipUnless(os.path.exists("/usr/bin/dpkg"), "no dpkg")
    def test_judgement(self):
        versions = {"libssl3": "3.0.22-1~deb12u1", "libosip2-15": "5.3.0-3"}
        _, below = version_floors.judge(version_floors.PACKAGES, {"swift-nio": "2.101.0"}, versions.get)
        self.assertEqual(below, ["libssl3"])
        _, below = version_floors.judge(version_floors.PACKAGES, {"swift-nio": None, "swift-nio-http2": "1.44.0"}, lambda name: None)
        self.assertEqual(below, ["libssl3", "libosip2-15", "swift-nio", "swift-nio-http2"])


class FloorTests(unittest.TestCase):
    def test_nothing_is_imported_from_above(self):
        self.assertEqual(floors.upward({"CallModel": set(), "CallEngine": {"CallModel", "Foundation"}}), [])
        self.assertEqual(
            floors.upward({"CallEngine": {"NodeCore"}, "NodeCore": {"CallEngine"}}),
            ["CallEngine imports NodeCore, which stands above it"])
        self.assertEqual(floors.upward({"Attic": set()}), ["Attic stands on no floor: name it in FLOORS"])
        self.assertEqual(
            floors.upward({"landline": {"SimulationKit"}, "SimulationKit": set()}),
            ["landline imports SimulationKit: the product carries no simulation and no benchmark"])

    def test_folders_and_files_that_need_each_other(self):
        sources = {
            "A/One.swift": "struct One { var two: Two }", "B/Two.swift": "struct Two {}\nstruct Three { var four: Four? }",
            "A/Four.swift": "final class Four { var one: One? }", "Five.swift": "enum Five { static let one: One? = nil }",
        }
        targets = {"T": sources, "U": {"Six.swift": "struct Six {}"}, "V": {"Six.swift": "struct Six { var one: One }"}}
        owner = floors.owners(targets)
        self.assertEqual(owner["Two"], ("T", "B/Two.swift"))
        self.assertNotIn("Six", owner, "which of two it is, nobody could say")
        graph = floors.needs(sources, {name: path for name, (_, path) in owner.items()})
        self.assertEqual(graph["Five.swift"], {"A/One.swift"})
        self.assertEqual(floors.pairs(graph), [("A", "B")])
        self.assertEqual(floors.circles(graph), [["A/Four.swift", "A/One.swift", "B/Two.swift"]])
        graph["B/Two.swift"] = set()
        self.assertEqual((floors.pairs(graph), floors.circles(graph)), ([], []))


class DeclaredImportTests(unittest.TestCase):
    def target(self, name, imported=(), dependencies=(), links=(), headers=(), kind="regular"):
        return declared_imports.Target(name, kind, set(dependencies), set(links), set(imported), set(headers))

    def test_what_is_imported_has_to_be_declared(self):
        whole = self.target("A", ["Foundation", "B"], ["B"])
        self.assertEqual(declared_imports.judge([whole]), [])
        missing = self.target("A", ["Foundation", "B", "NIOSSL"], ["B"], kind="test")
        self.assertEqual(declared_imports.judge([missing]), ["A imports NIOSSL and does not declare it"])
        self.assertEqual(
            declared_imports.judge([self.target("A", [], ["B"])]), ["A declares B and no file imports it"])

    def test_what_is_linked_has_to_be_declared(self):
        c = self.target("CTLS", headers=["openssl/ssl.h", "openssl/evp.h", "string.h"], links=["ssl", "crypto"])
        self.assertEqual(declared_imports.judge([c]), [])
        c.links = {"ssl", "z"}
        self.assertEqual(declared_imports.judge([c]), [
            "CTLS includes headers of libcrypto and does not link it", "CTLS links libz and includes no header of it"])
        users = [self.target(name, ["CTLS"], ["CTLS"]) for name in "AB"]
        c.links = {"ssl", "crypto"}
        self.assertEqual(declared_imports.judge([c] + users), ["CTLS is imported by A, B"])

    def test_what_counts_as_an_import(self):
        text = 'public import A\n@testable import struct B.C\n  @_exported public import D\n// import E\nlet s = """\n  import F\n  """\n'
        self.assertEqual(declared_imports.imports([text]), {"A", "B", "D"})


class CommandTests(unittest.TestCase):
    def test_only_some_rows(self):
        done = subprocess.run(
            [sys.executable, str(HERE / "run.py"), "--only", "A10", "--no-build"], capture_output=True, text=True,
            env={name: value for name, value in os.environ.items() if name not in ("LANDLINE_FULL", "LANDLINE_SCOREBOARD")})
        self.assertIn("A10", done.stdout)
        self.assertIn("0 not run", done.stdout)
        self.assertNotIn("written:", done.stdout)


if __name__ == "__main__":
    unittest.main()
