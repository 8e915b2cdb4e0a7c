"""Somebody who has texts spoken and sounds played without an end, and who puts what is no text and no name in their place."""

import pathlib
import tempfile

from gateway_lab import Account, Trunk
from ground import *

# Texts that are asked for, and how many at a time.
STORM, AT_ONCE = 60, 20
# Speech engines that may run at a time.
ENGINES = 2


class SoundLab(OwnedLab):
    """With a folder of sounds, of which few are any."""

    def configuration(self):
        own = "    operators:\n      production-admin:"
        return super().configuration().replace(own, f"    sounds: {self.folder}/sounds\n{own}")

    def prepare(self):
        sounds = self.folder / "sounds"
        sounds.mkdir()
        subprocess.run(["flite", "-voice", "slt", "-t", "Good morning.", "-o", sounds / "good.wav"], check=True)
        whole = (sounds / "good.wav").read_bytes()
        (sounds / "cut.wav").write_bytes(whole[:30])
        # A length of its sound that it does not have.
        (sounds / "lies.wav").write_bytes(whole[:40] + b"\xff\xff\xff\x7f" + whole[44:])
        (sounds / "text.wav").write_text("[section]\n" * 1000)
        (sounds / "empty.wav").write_bytes(b"")
        (sounds / "pages.ogg").write_bytes(b"OggS" + bytes(5000))
        with open(sounds / "huge.wav", "wb") as file:
            file.truncate(1 << 34)
        (self.folder / "secret.wav").write_bytes(whole)
        super().prepare()


def engines(pid):
    """Speech engines that the gateway runs, each with what it holds open besides files of its own."""
    found = subprocess.run(["pgrep", "-P", str(pid), "flite"], capture_output=True, text=True)
    return [held(engine) for engine in found.stdout.split()]


def held(pid):
    targets = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                targets.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    return {target for target in targets if target != "/dev/null" and "landline-speech-" not in target}


def leftovers():
    return set(pathlib.Path(tempfile.gettempdir()).glob("landline-speech-*"))


async def attack(ground):
    """Class B, texts and names that reach a program and a file system.
    Evidence: options and commands in texts that were handed to speech programs (Asterisk's Flite and eSpeak applications run through
    a shell), files read through names of prompts (FreePBX recordings, CVE-2019-19006 and after), and engines started without a
    bound.
    Must hold: a name is no path and a text no command; at most two engines run at a time and none stays; files that lie about
    their sound are refused in words that name no path; nobody else's call can be spoken into; the call goes on."""
    calls = {"per-session": "100", "media-set-up": "120s"}
    accounts = [Account("main", 10), Account("other", 10)]
    async with SoundLab("b27", accounts=accounts, trunks=[Trunk("first")], calls=calls) as lab:
        await lab.carrier("first")
        app = await lab.app("main")
        call = await app.call()
        await call.accepted()
        target = f"/v1/live-calls/{call.id}/say"
        kept = leftovers()

        async def say(body, account=None, path=target):
            proof = {"Authorization": f"Bearer {lab.key(account)}"} if account else {}
            fields = {"Idempotency-Key": f"{time.monotonic_ns()}", **proof}
            status, _, text = await lab.http_request("POST", path, body, fields, bearer=account is None, seconds=30)
            return status, text

        # Texts.
        marks = [pathlib.Path(tempfile.gettempdir()) / f"landline-b27-{os.getpid()}-{kind}" for kind in ("shell", "option")]
        odd = []
        for text, wanted in ((f"$(touch {marks[0]})", 200), (f"; touch {marks[0]};", 200), (f"-o {marks[1]}", 200),
                             ("--help me", 200), ("a" * 500, 200), ("a" * 501, 400), ("", 400), ("   ", 400), ("a\u202eb", 400),
                             ("a\x00b", 400), ("a\nb", 400), ("\U000e0041 tag", 400), ("...", 400), (7, 400), (None, 400)):
            status, answer = await say({"text": text})
            # Half a thousand letters in a row are more than two minutes of sound.
            if status not in ((200, 503) if len(str(text)) == 500 else (wanted,)):
                odd.append(f"{text!r:.40}: {status} {answer[:80]}")
        odd += [f"{mark} was written" for mark in marks if mark.exists()]
        ground.none("B27", odd, "texts that were more than words")
        # Names.
        odd = []
        for name, wanted in (("good", 200), ("../secret", 400), ("..%2fsecret", 400), ("/etc/passwd", 400), ("good.wav", 400),
                             ("a" * 65, 400), ("Good", 400), ("g\u043eod", 400), ("good\x00", 400), ("none", 404), ("cut", 503),
                             ("lies", 503), ("text", 503), ("empty", 503), ("pages", 503), ("huge", 503)):
            status, answer = await say({"sound": name})
            # A sound that is cut short may be played as far as it goes.
            if status not in ((200, 503) if name == "lies" else (wanted,)) or str(lab.folder) in answer:
                odd.append(f"{name!r:.40}: {status} {answer[:120]}")
        ground.none("B27", odd, "names that were more than names")
        # Many at a time.
        most, inherited, answers, began = 0, set(), [], time.monotonic()

        async def storm(part):
            for number in range(STORM // AT_ONCE):
                answers.append((await say({"text": f"This is text number {number} of part {part}, and nobody waits for it."}))[0])

        async def watch():
            nonlocal most
            while True:
                found = await asyncio.to_thread(engines, lab.pid)
                most = max(most, len(found))
                # One socket is that by which the gateway learns of its end.
                inherited.update(*(each for each in found if len(each) > 1))

        # Threads that run programs keep a few descriptors: the first storm has made them.
        await asyncio.gather(*(storm(part) for part in range(AT_ONCE)))
        await until("every engine's end", lambda: not engines(lab.pid), 20)
        before = lab.descriptors_open()
        answers.clear()
        watching = asyncio.create_task(watch())
        await asyncio.gather(*(storm(part) for part in range(AT_ONCE)))
        watching.cancel()
        said = answers.count(200)
        ground.promise("B27", most, "speech engines at a time", f"<= {ENGINES}", 0 < most <= ENGINES and said > 0,
                       f"{said} of {STORM} texts said in {time.monotonic() - began:.1f} s")
        odd = [status for status in answers if status not in (200, 503)]
        ground.none("B27", odd, "answers that say neither done nor later")
        ground.none("B27", inherited, "open files and connections that engines inherit")
        await until("every engine's end", lambda: not engines(lab.pid), 20)
        left = leftovers() - kept
        await until("descriptors given back", lambda: lab.descriptors_open() <= before + 5, 20)
        ground.none("B27", left, "files of engines that stayed")
        # Calls of others.
        odd = []
        for path in (target, "/v1/conferences/weekly/say"):
            for account in ("other", "nobody"):
                status, _ = await say({"text": "Send money."}, account, path)
                odd += [] if status in (401, 403, 404) else [f"{account} {path}: {status}"]
        ground.none("B27", odd, "calls of others that were spoken into")
        ground.promise("B27", int(call.first("ended", "gone") is not None), "calls ended by it", "= 0",
                       call.first("ended", "gone") is None)
        await call.hang_up()
        await call.ended()
        await lab.idle(40)
