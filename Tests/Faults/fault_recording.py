"""What recordings lie on: the process that is killed, the disk that is full."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time

from fault import check_books, fault, many
from gateway_lab import Account, Lab, Trunk, require, until

CALLS = {"media-set-up": "120s"}
# Of sound that a kill may cost on a loaded machine: half a second of a page, and pieces on their way to the disk.
MOST_LOST = 2
# Free on the disk, below which no recording runs.
LEAST_FREE = 256 << 20


class RecordingLab(Lab):
    """Its recordings lie in a folder of their own."""

    def __init__(self, name, recordings=None, **settings):
        super().__init__(name, accounts=[Account("main", 100)], trunks=[Trunk("first")], calls=CALLS, **settings)
        self.recordings = recordings

    def configuration(self):
        text = super().configuration()
        own = "    ledger: production.ledger\n"
        return text.replace(own, f"{own}    recordings: {self.recordings}\n") if self.recordings else text

    async def record(self, call, form="opus"):
        """(status, answer)."""
        status, _, text = await self.http_request(
            "POST", f"/v1/live-calls/{call.id}/recording", {"format": form},
            {"Idempotency-Key": f"{call.id}-{time.monotonic()}"})
        return status, json.loads(text)

    async def rows(self):
        _, _, text = await self.http_request("GET", "/v1/recordings?limit=100")
        return json.loads(text)["recordings"]


async def wait(seconds):
    end = time.monotonic() + seconds
    await until(f"{seconds} s", lambda: time.monotonic() >= end, seconds + 5)


def played(lab, row):
    """Seconds of a recording's file, as others play it; what is wrong with it is an error."""
    file = lab.folder / f"{row['id']}.{row['format']}"
    lab.command("recording", "save", row["id"], str(file))
    # It decodes the whole file.
    subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-i", file, "-f", "null", "-"], check=True)
    if row["format"] == "opus":
        told = subprocess.run(["opusinfo", file], capture_output=True, text=True, check=True).stdout
        require("WARNING" not in told, f"opusinfo has nothing to say: {told}")
    told = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file],
                          capture_output=True, text=True, check=True).stdout
    return float(told)


@fault("killed while it records", "the process is killed: what was recorded plays up to the last second", seconds=60)
async def killed(self):
    async with RecordingLab("recorded") as lab:
        await lab.carrier("first")
        app = await lab.app("main")
        began = {}
        for form in ["wav", "opus"] * many(3, 20):
            call = await app.call()
            await call.accepted()
            began[call.id] = time.monotonic()
            status, answer = await lab.record(call, form)
            require(status == 201, f"it is recorded: {status} {answer}")
        await wait(3.2)
        killed_at = time.monotonic()
        await lab.kill()
        await lab.start()
        rows = await lab.rows()
        require(len(rows) == len(began), f"all are there: {rows}")
        odd = [row for row in rows if row["state"] != "interrupted"]
        require(not odd, f"all were interrupted: {odd}")
        seconds = {row["id"]: played(lab, row) for row in rows}
        lost = max(killed_at - began[row["call"]] - seconds[row["id"]] for row in rows)
        self.row("D18", lost, "s of sound lost", f"<= {MOST_LOST}", lost <= MOST_LOST,
                 f"{len(rows)} recordings of 3 s", gate=True)
        wrong = [row for row in rows if abs(seconds[row["id"]] * 1000 - row["duration_ms"]) > 20]
        self.row("D18", len(wrong), "recordings whose length is told wrongly", "= 0", not wrong, f"{wrong[:2]}", gate=True)


@fault("full disk for recordings", "recordings end, calls go on, operators are told", seconds=60)
async def full(self):
    folder = tempfile.mkdtemp(prefix="landline-recordings-")
    size = LEAST_FREE + (16 << 20)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True).returncode:
        os.rmdir(folder)
        self.lines.append("     full disk for recordings: skipped, a small file system cannot be mounted here")
        return print(self.lines[-1])
    ballast = pathlib.Path(folder) / "ballast"
    try:
        async with RecordingLab("full-recordings", recordings=f"{folder}/recordings") as lab:
            await lab.carrier("first")
            app = await lab.app("main")
            calls = [await app.call() for _ in range(4)]
            for call in calls:
                await call.accepted()
                status, answer = await lab.record(call)
                require(status == 201, f"it is recorded: {status} {answer}")
            await wait(3)
            with open(ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * (1 << 20))

            async def ended():
                rows = await lab.rows()
                return rows if all(row["state"] != "running" for row in rows) else None

            rows = await until("the end of every recording", ended, 20)
            states = {row["state"] for row in rows}
            require(len(rows) == len(calls) and states <= {"full", "failed"}, f"why they ended: {states}")
            late = await app.call()
            await late.accepted()
            status, answer = await lab.record(late)
            refused = (status, answer.get("code")) == (409, "gw.recording")
            told = "recordings ended" in lab.log_text() or "cannot be written" in lab.log_text()
            dropped = [call for call in [*calls, late] if call.first("ended", "gone")]
            self.row("D19", len(dropped), "calls dropped", "= 0", not dropped and refused and told,
                     f"{states}; another: {status} {answer.get('code')}; operators told: {told}", gate=True)
            ballast.unlink()
            seconds = [played(lab, row) for row in rows]
            self.row("D19", min(seconds), "s that can be heard of each", ">= 1", min(seconds) >= 1, "", gate=True)

            async def again():
                return (await lab.record(late))[0] == 201

            await until("a recording once there is room", again, 20)
            for call in [*calls, late]:
                await call.hang_up()
            ends = [await call.ended() for call in [*calls, late]]
            await lab.idle(40)
            check_books(self, lab, ended=[end for end in ends if end.get("cost_micro")])
    finally:
        subprocess.run(["umount", folder], check=False)
        with contextlib.suppress(OSError):
            os.rmdir(folder)
