"""Counts the expressions that can stop the process, in the code that bytes from the network reach.

A syntactic check: it knows no types. Two groups.

  always     `x!`, `try!`, `as!`, types `T!`, fatalError, precondition, unowned, @unchecked, unsafe members
  unchecked  a subscript whose index is computed, a number forced into a narrower type, where the function so far has
             looked at no count, range or limit

Each needs a comment on the line above (an unchecked one: or as the first line of its function) that says why it cannot happen or why going on is worse.

usage: trap_constructs.py [--list] [FOLDER…]   ends with 1 when one has no reason
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/PeerKit/Scripts"))

# What bytes of strangers reach before or after they are let in.
WIRE = [
    "CallModel", "SIPCore", "SDPCore", "SecureTransport", "MediaCore", "AppProtocol", "CallEngine", "RoutingCore",
    "LandlineDigest", "LandlineResolver", "LandlineOutbound", "LandlineWire", "LandlineNode", "LandlineHTTP", "LandlineServer",
    "CallStory",
]

ALWAYS = [
    ("force unwrap", re.compile(r"(?<=[\w)\]>\"])!(?![=\w])")),
    ("try!", re.compile(r"\btry!")),
    ("as!", re.compile(r"\bas!")),
    ("trap", re.compile(r"\b(?:fatalError|precondition|preconditionFailure)\s*\(")),
    ("unowned", re.compile(r"\bunowned\b")),
    ("@unchecked", re.compile(r"@unchecked\b")),
    ("unsafe", re.compile(r"\bunsafe(?:BitCast|Downcast|lyUnwrapped)\b|\bunsafelyUnwrapped\b|\bnonisolated\(unsafe\)")),
]
SUBSCRIPT = re.compile(r"(?<=[\w)\]])\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]")
# An index that is computed from others: `offset + 2`, `count - 1`, `here..<there`.
COMPUTED = re.compile(r"[\w)\]]\s*(?:[-+*/%]|<<|>>|\.\.[.<])\s*[\w(\[]")
SAFE_INDEX = re.compile(r"&\s*(?:0x[0-9A-Fa-f]+|\d+)|%|default:|clamping|\?\?")
NARROWER = re.compile(r"\b(?:U?Int(?:8|16|32))\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
SAFE_NUMBER = re.compile(
    r"truncatingIfNeeded|clamping|exactly|bitPattern|Endian|ascii|radix|&|%|>>|min\(|max\(|\?\?|\"|^\s*-?[\d_x]+\s*$|^\s*$")
LOOKED = re.compile(
    r"\.count\b|\bindices\b|\bisEmpty\b|\bendIndex\b|\bguard\b|\bwhile\b|\bfor\b|\bstride\b|\bcheck\(|\bprecondition\(|"
    r"\bmin\(|\bmax\(|\breduce\b|\bmap\b|\bcapacity\b|\bcase\b|\bif\b|\bwhere\b")
LOOKED_HERE = re.compile(r"&&|\?|\bmin\(|\bmax\(| < | > |<=|>=")
FUNCTION = re.compile(r"\b(?:func|init|subscript|var|let|get|set|deinit)\b")


def without_texts(source):
    """The source with comments and string contents made blank, line for line; and the lines that hold a comment."""
    out, comments = [], {}
    index, line, size = 0, 1, len(source)
    while index < size:
        two = source[index:index + 2]
        if two == "//":
            end = source.find("\n", index)
            end = size if end < 0 else end
            comments[line] = source[index:end]
            out.append(" " * (end - index))
            index = end
        elif two == "/*":
            end = source.find("*/", index)
            end = size if end < 0 else end + 2
            text = source[index:end]
            for offset in range(text.count("\n") + 1):
                comments[line + offset] = text
            line += text.count("\n")
            out.append(re.sub(r"[^\n]", " ", text))
            index = end
        elif source[index] == '"':
            end = closing(source, index)
            text = source[index:end]
            line += text.count("\n")
            out.append('"' + re.sub(r"[^\n]", " ", text[1:-1]) + '"')
            index = end
        else:
            line += source[index] == "\n"
            out.append(source[index])
            index += 1
    return "".join(out), comments


def closing(source, index):
    """The end of the string literal that begins here; interpolations may hold others."""
    hashes = 0
    while index - hashes - 1 >= 0 and source[index - hashes - 1] == "#":
        hashes += 1
    quote = '"""' if source.startswith('"""', index) else '"'
    end_mark = quote + "#" * hashes
    place = index + len(quote)
    depth = 0
    escape = "\\" + "#" * hashes
    while place < len(source):
        if source.startswith(escape + "(", place):
            depth += 1
            place += len(escape) + 1
        elif depth:
            if source[place] == '"':
                place = closing(source, place)
                continue
            depth += {"(": 1, ")": -1}.get(source[place], 0)
            place += 1
        elif source.startswith(escape, place):
            place += len(escape) + 1
        elif source.startswith(end_mark, place):
            return place + len(end_mark)
        else:
            place += 1
    return len(source)


def functions(code):
    """For each offset of an opening brace that begins a function: its end."""
    spans, stack, previous = [], [], 0
    for place, letter in enumerate(code):
        if letter == "{":
            head = code[previous:place]
            stack.append((place, bool(FUNCTION.search(head)) and "(" in head or bool(re.search(r"\b(get|set|var)\b", head)), previous))
            previous = place + 1
        elif letter == "}":
            if stack:
                start, is_function, head_start = stack.pop()
                if is_function:
                    spans.append((head_start, place))
            previous = place + 1
    return sorted(spans)


def findings(path):
    """(line, group, kind, text, reason or None) of one file."""
    source = path.read_text()
    code, comments = without_texts(source)
    lines = source.splitlines()
    starts = [0]
    for match in re.finditer("\n", code):
        starts.append(match.end())
    spans = functions(code)

    def line_of(offset):
        low, high = 0, len(starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if starts[middle] <= offset else (low, middle)
        return low + 1

    def reason(line):
        # The comment stands on the line, or above the statement that the line belongs to (three lines at most).
        if line in comments and not comments[line].startswith("///"):
            return comments[line]
        for above in range(line - 1, max(0, line - 4), -1):
            if above in comments:
                return comments[above]
            text = lines[above - 1].rstrip()
            if not text.endswith(("(", ",", "=", "{", "&&", "||", "else", "+", ":")):
                return None
        return None

    found = []
    for kind, pattern in ALWAYS:
        for match in pattern.finditer(code):
            if kind == "force unwrap" and re.search(r"\b(try|as)$", code[:match.start()]):
                continue
            line = line_of(match.start())
            found.append((line, "always", kind, lines[line - 1].strip(), reason(line)))

    def looked(offset):
        inside = [span for span in spans if span[0] <= offset <= span[1]]
        # The condition may stand on the line itself.
        begin = starts[line_of(offset) - 1]
        end = code.find("\n", offset)
        return bool(LOOKED_HERE.search(code[begin:end])) or bool(inside) and bool(LOOKED.search(code[inside[0][0]:offset]))

    def explained(offset, line):
        """The reason of the line, or the one that a function begins with."""
        inside = [span for span in spans if span[0] <= offset <= span[1]]
        if inside:
            first = line_of(code.index("{", inside[-1][0])) + 1
            if comments.get(first, "///").startswith("// "):
                return comments[first]
        return reason(line)

    for match in SUBSCRIPT.finditer(code):
        index = match.group(1)
        word = re.search(r"(\w+)$", code[:match.start()])
        if word and word.group(1) in ("in", "return", "case", "some", "any", "as", "is"):
            continue
        if COMPUTED.search(index) and not SAFE_INDEX.search(index) and not looked(match.start()):
            line = line_of(match.start())
            found.append((line, "unchecked", "subscript", lines[line - 1].strip(), explained(match.start(), line)))
    for match in NARROWER.finditer(code):
        value = match.group(1)
        if "+" in value or "*" in value or re.search(r"\w -", value):
            if not SAFE_NUMBER.search(value) and not looked(match.start()):
                line = line_of(match.start())
                found.append((line, "unchecked", "narrower", lines[line - 1].strip(), explained(match.start(), line)))
    return found


def main(arguments):
    shows_all = "--list" in arguments
    folders = [Path(name) for name in arguments if name != "--list"] or [ROOT / "Sources" / name for name in WIRE]
    files = sorted(path for folder in folders for path in folder.rglob("*.swift"))
    counts, excused, unexcused = {}, 0, []
    for path in files:
        for line, group, kind, text, reason in findings(path):
            name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            counts[kind] = counts.get(kind, 0) + 1
            if reason is None:
                unexcused.append(f"{name}:{line}: {kind}: {text}")
            else:
                excused += 1
                if shows_all:
                    print(f"{name}:{line}: {kind}, with a reason: {text}")
    for text in unexcused:
        print(text)
    if not files:
        print("no file was looked at")
        return 1
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
    print(f"{len(files)} files; {excused} with a reason, {len(unexcused)} without ({kinds})")
    from scoreboard import row
    row("A10", figure=len(unexcused), unit="without a written reason", target="= 0", passed=not unexcused, gate=True,
        detail=f"{len(files)} files of {len(WIRE)} targets; {excused} with a reason")
    return 1 if unexcused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
