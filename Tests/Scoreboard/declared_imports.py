"""What a target imports and links against what Package.swift declares for it.

The build does not see all of this: a module that another target built before it can be imported without being declared, and a
library that another target links is found by the linker whoever asked for it.

  import     of a target or product that the target does not depend on
  unused     a dependency on a target or product that no file of a target of Sources imports
  link       a C header of a library that the target does not link, or a library it links and has no header of
  importers  a C target that more than one target of Sources imports

usage: declared_imports.py   ends with 1 when it finds one
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

IMPORT = re.compile(
    r"^[ \t]*(?:@[\w()]+[ \t]+)*(?:(?:public|package|internal|fileprivate|private)[ \t]+)?import[ \t]+"
    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias)[ \t]+)?(\w+)", re.MULTILINE)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.MULTILINE)

# Modules that come with Swift on Linux.
SYSTEM = {"Swift", "Foundation", "FoundationEssentials", "Dispatch", "Glibc", "Synchronization", "Testing", "XCTest"}
# Beginning of a header's path → the library that has its functions.
LIBRARIES = [
    ("openssl/ssl", "ssl"), ("openssl/srtp", "ssl"), ("openssl/", "crypto"), ("sqlite3.h", "sqlite3"), ("zlib.h", "z"),
    ("opus/", "opus"), ("osip2/", "osip2"), ("osipparser2/", "osipparser2"), ("srtp2/", "srtp2"), ("ares.h", "cares"),
    ("phonenumbers/", "phonenumber"),
]


def without_comments(source):
    """The source without comments and texts in several lines: an example in one imports nothing."""
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
    source = re.sub(r'"""\n.*?"""', '""', source, flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", source)


def imports(texts):
    """The modules that Swift sources import."""
    return {name for text in texts for name in IMPORT.findall(without_comments(text))}


def library(header):
    return next((name for start, name in LIBRARIES if header.startswith(start)), None)


class Target:
    """What is declared of a target, and what its files say."""

    def __init__(self, name, kind, dependencies, links, imported, headers):
        self.name, self.kind = name, kind
        self.dependencies, self.links, self.imported, self.headers = dependencies, links, imported, headers

    @staticmethod
    def read(description, root):
        name = description["name"]
        default = "Tests" if description["type"] == "test" else "Sources"
        folder = root / description.get("path", f"{default}/{name}")
        dependencies = set()
        for one in description["dependencies"]:
            dependencies.add((one.get("byName") or one.get("target") or one.get("product"))[0])
        links = {setting["kind"]["linkedLibrary"]["_0"] for setting in description["settings"]
                 if "linkedLibrary" in setting["kind"]}
        for map_file in folder.rglob("module.modulemap"):
            links |= set(re.findall(r'^\s*link\s+"([^"]+)"', map_file.read_text(), re.MULTILINE))
        left_out = [folder / path for path in description["exclude"]]
        files = [path for path in folder.rglob("*") if path.is_file() and not any(path.is_relative_to(one) for one in left_out)]
        swift = [path.read_text() for path in files if path.suffix == ".swift"]
        c = [path.read_text() for path in files if path.suffix in (".c", ".cc", ".cpp", ".h", ".S")]
        return Target(name, description["type"], dependencies, links, imports(swift),
                      {header for text in c for header in INCLUDE.findall(text)})


def judge(targets):
    """One line for each thing that is not as declared."""
    found = []
    for target in targets:
        for name in sorted(target.imported - target.dependencies - SYSTEM - {target.name}):
            found.append(f"{target.name} imports {name} and does not declare it")
        # A test may need something built that it imports nothing of.
        for name in sorted(target.dependencies - target.imported if target.kind != "test" else []):
            found.append(f"{target.name} declares {name} and no file imports it")
        needed = {library(header) for header in target.headers} - {None}
        for name in sorted(needed - target.links):
            found.append(f"{target.name} includes headers of lib{name} and does not link it")
        for name in sorted(target.links - needed):
            found.append(f"{target.name} links lib{name} and includes no header of it")
    for c in sorted(target.name for target in targets if target.name.startswith("C") and target.headers):
        users = sorted(target.name for target in targets if target.kind != "test" and c in target.imported)
        if len(users) > 1:
            found.append(f"{c} is imported by {', '.join(users)}")
    return found


def main():
    done = subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        print(f"Package.swift cannot be read: {done.stderr.strip()}")
        return 1
    targets = [Target.read(description, ROOT) for description in json.loads(done.stdout)["targets"]]
    found = judge(targets)
    for line in found:
        print(line)
    print(f"{len(targets)} targets; {len(found)} imports or libraries are not as declared")
    return 1 if found or not targets else 0


if __name__ == "__main__":
    sys.exit(main())
