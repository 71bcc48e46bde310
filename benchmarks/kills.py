"""Commands killed in the middle: what is left, and what the next run makes of it.

Each command writes tiny things in a folder of its own and is ended by SIGKILL. Half of the moments
are drawn from its whole duration. The other half are system calls that change a file, such as the
second ``fsync``: strace ends the process as it makes the call. Most commands are killed three times
in a row, until they have their output. What is checked after each kill:

- the output is absent, or what stood there before, or whole: equal to that of a run left alone. It
  opens, and ``index --verify`` has no findings;
- nothing that was acknowledged is lost: added synonyms, recorded links, checkpoints;
- no process that the command had started is left after ten seconds;
- the next run begins as if nothing had been. After the last kill it gets to the same output, with
  no flag but the one its message asks for, and leaves no file behind.

    python benchmarks/kills.py [--kills 1000] [--seed 0] [--commands link,train] [--folder FOLDER]

In a given folder, a run that was stopped goes on behind the commands that are done.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from canonym import Linker, Name, Terminology
from canonym.encoders import load_encoder
from canonym.errors import ReadError
from canonym.io.files import file_digest
from canonym.linking.verify import verify_index
from canonym.terminology.overlay import OVERLAY
from canonym.training.loop.checkpoints import list_checkpoints, read_newest
from record import parser, save, settings_of

PATIENCE = 10.0  # seconds in which the processes of a killed one have to end
CALLS = "rename,link,linkat,unlink,unlinkat,rmdir,mkdir,fsync,fdatasync,ftruncate,pwrite64,write"
CANONYM = ("-m", "canonym")
# Links are recorded every two seconds: the input would have to be long.
OFTEN = (
    "-c",
    "import canonym.io.journal as r, canonym.cli as c; r._INTERVAL = 0.03; c.main(None, 'canonym')",
)
ONE_BY_ONE = """
import sys
from canonym import Linker
linker = Linker.load(sys.argv[1])
for number in range(200):
    linker.synonyms.add(f"one by one {number}", "D:1")
    print(number, flush=True)
"""
ADDED = "added names"

# --- what is killed -------------------------------------------------------------------------------


class Job(NamedTuple):
    """A command that is run in an empty folder beside `inputs`, and the output it writes there."""

    name: str
    share: int  # of a thousand kills
    command: Sequence[str]  # behind `python`
    output: str
    open: Callable[[Path], object]  # refuses what is not whole; the result tells outputs apart
    prepare: Callable[[Path], object]
    acknowledged: Callable[[Path], int]  # how much of an unfinished output is sure
    kills: int = 3  # in a row

    def state(self, folder: Path) -> str:
        """Open the output and return what it is, "" if there is none."""
        try:
            return str(self.open(folder / self.output))
        except ReadError:
            if (folder / self.output).exists():
                raise
            return ""


def jobs() -> list[Job]:
    """Return everything that is killed: the entries of ``kills.toml``."""
    return [_job(name, **described) for name, described in settings_of(__file__).items()]


def _job(name: str, *, command: str, before: str = "", often: bool = False, **more: Any) -> Job:
    words = [*(OFTEN if often else CANONYM), *shlex.split(command)]
    opener = {"x.db": _terminology, "index": _index, "links.tsv": _file, "encoder": _encoder}
    recorded = {"links": _links_recorded, "checkpoints": _newest_step}
    return Job(
        name,
        command=words if command else ("-c", ONE_BY_ONE, "index"),
        open=opener[more["output"]],
        prepare=partial(_place, before, more["output"]),
        acknowledged=recorded.get(more.pop("recorded", ""), lambda _: 0),
        **more,
    )


def _place(name: str, output: str, folder: Path) -> None:
    """Put something else in the place of the output that is written, if there is a name."""
    source = folder.parent / "inputs" / name
    if name:
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / output)


def _file(path: Path) -> str:
    return file_digest(path) if path.exists() else ""


def _terminology(path: Path) -> str:
    Terminology(path).close()
    return file_digest(path)


def _index(path: Path) -> str:
    findings = verify_index(path).findings
    if findings:
        raise ValueError(findings)
    linker = Linker.load(path)
    # The file of what was added has a name of its own: its content counts.
    return repr((_tree(path), tuple(linker.synonyms), linker.synonyms.forbidden))


def _encoder(path: Path) -> str:
    load_encoder(path).encode(["acute ailment"])
    return _tree(path)


def _tree(path: Path) -> str:
    found = [
        (file.relative_to(path).as_posix(), file_digest(file))
        for file in sorted(path.rglob("*"))
        if file.is_file() and not file.name.startswith(OVERLAY)
    ]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def _links_recorded(folder: Path) -> int:
    """Return how many links a run can go on behind; they have to be those of a whole run."""
    record, partial_ = folder / "links.tsv.partial.json", folder / "links.tsv.partial"
    if not record.exists() or not partial_.exists():
        return 0
    content = json.loads(record.read_text())
    whole = (folder.parent / "whole-links.tsv").read_bytes()
    begun = partial_.read_bytes()[: content["bytes"]]
    if len(begun) < content["bytes"] or not whole.startswith(begun):
        raise ValueError("what is recorded of the links is not there")
    return int(content["links"])


def _newest_step(folder: Path) -> int:
    """Return the step of the newest checkpoint; one that is listed has to be whole."""
    place = folder / "encoder.checkpoints"
    if not list_checkpoints(place):
        return 0
    notices: list[str] = []
    newest = read_newest(place, notice=notices.append)
    if notices or newest is None:
        raise ValueError(notices)
    return int(newest.state["step"])


# --- inputs ---------------------------------------------------------------------------------------


def make_inputs(folder: Path) -> None:
    """Write the inputs of all commands."""
    folder.mkdir()
    rows = ["id,name,parent", "D:0,disease,"]
    rows += [f"D:{group},group {group} disorder,D:0" for group in range(1, 5)]
    for number in range(5, 40):
        kinds = ("acute", "chronic")
        rows += [f"D:{number},{kind} ailment {number},D:{number % 4 + 1}" for kind in kinds]
    (folder / "x.csv").write_text("\n".join(rows) + "\n")
    large = (f"L:{number // 4},ailment {number}" for number in range(52_000))
    (folder / "large.csv").write_text("id,name\n" + "\n".join(large) + "\n")
    names = (f"acute ailments {number % 50} {number}\n" for number in range(3000))
    (folder / "names.txt").write_text("".join(names))
    more = (f"further name {number}\tD:2\n" for number in range(300))
    (folder / "more.tsv").write_text("".join(more))
    for command in (
        "import x.csv -o x.db --id-column id --name-column name --parent-column parent",
        "import large.csv -o large.db",
        "index x.db -o index -e chargrams",
        "index x.db -o taught -e chargrams",
        "fit x.db -o encoder --start none --held-out 0 --dimensions 4 --steps 5 --batch 8",
        "link acute -o links.tsv --index index",
    ):
        subprocess.run(
            [sys.executable, *CANONYM, *command.split(), "-q"], cwd=folder, env=_env(), check=True
        )
    linker = Linker.load(folder / "taught")
    names_ = [Name(f"old name {number}", "D:1") for number in range(20)]
    linker.synonyms.update(names_, [("ailment", "D:5"), ("lump", "D:6")])


def _env() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "CANONYM_CACHE": "cache"}


# --- runs -----------------------------------------------------------------------------------------


class Reference(NamedTuple):
    """A job left alone."""

    old: str  # the output before
    new: str
    files: list[str]  # of the folder afterwards
    seconds: float
    calls: dict[str, int]  # that change a file


class Ended(NamedTuple):
    """How a run ended: the exit code, what it printed, the seconds its processes lived on."""

    code: int
    out: str
    error: str
    outlived: float


def run(
    command: Sequence[str],
    folder: Path,
    *,
    tracer: Sequence[str] = (),
    seconds: float | None = None,
) -> Ended:
    """Run a command; kill it after some seconds, if it takes as long."""
    with (
        (folder.parent / f"{folder.name}.out").open("w+") as out,
        (folder.parent / f"{folder.name}.err").open("w+") as error,
    ):
        process = subprocess.Popen(
            [*tracer, sys.executable, *command],
            cwd=folder,
            env=_env(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=error,
            start_new_session=True,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        outlived = _wait_for_session(process.pid)
        out.seek(0)
        error.seek(0)
        return Ended(process.returncode, out.read(), error.read(), outlived)


def _wait_for_session(session: int) -> float:
    """Wait until no process of a session is left; end those that do not end by themselves."""
    began = time.monotonic()
    while left := list(_processes_of(session)):
        if time.monotonic() - began > PATIENCE:
            for process in left:
                os.kill(process, signal.SIGKILL)
            break
        time.sleep(0.02)
    return time.monotonic() - began


def _processes_of(session: int) -> Iterator[int]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            yield int(stat.parent.name)


def measure(job: Job, place: Path) -> Reference:
    """Run a job twice without a kill: its output, its duration, and its system calls."""
    news, times = set(), []
    trace = place / "trace.txt"
    tracers = ((), ("strace", "-q", "-o", str(trace), "-e", CALLS))
    for tracer in tracers if shutil.which("strace") else ((), ()):
        folder = _fresh(job, place)
        old = job.state(folder)
        began = time.monotonic()
        ended = run(job.command, folder, tracer=tracer)
        times.append(time.monotonic() - began)
        if ended.code:
            raise SystemExit(f"{job.name}: {ended.error}")
        news.add(job.state(folder))
    if len(news) > 1:
        raise SystemExit(f"{job.name}: two runs have different outputs")
    calls: Counter[str] = Counter()
    if trace.exists():
        calls.update(re.findall(r"^\w+(?=\()", trace.read_text(), re.MULTILINE))
        trace.unlink()
    if job.output == "links.tsv":
        shutil.copy(folder / job.output, place / "whole-links.tsv")
    return Reference(old, news.pop(), _listed(folder), min(times), dict(calls))


def _fresh(job: Job, place: Path, name: str = "work") -> Path:
    folder = place / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    job.prepare(folder)
    return folder


def _listed(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*"))


# --- kills ----------------------------------------------------------------------------------------


def kill_job(job: Job, reference: Reference, place: Path, number: str, seed: str) -> dict[str, Any]:
    """Kill a job, as often in a row as it wants, and let the next run finish it."""
    rng = random.Random(seed)
    folder = _fresh(job, place, f"work-{number}")
    row: dict[str, Any] = {"job": job.name, "moments": [], "found": [], "next": []}
    row |= {"problems": [], "ended before": 0, "outlived": 0.0}
    sure = 0
    while len(row["moments"]) < job.kills and not row["problems"]:
        by_call = bool(reference.calls) and rng.random() < 0.5
        moment, ended = _kill(job, reference, folder, rng, by_call=by_call)
        row["outlived"] = max(row["outlived"], round(ended.outlived, 2))
        if ended.outlived > PATIENCE:
            row["problems"].append(f"{moment}: processes were left")
        if ended.code not in (0, -signal.SIGKILL):
            row["problems"].append(f"{moment}: exit code {ended.code}: {ended.error[-500:]}")
            return row
        finished = ended.code == 0
        try:
            found = _check(job, reference, folder, ended, finished=finished)
            now = job.acknowledged(folder)
            if now < sure and found != "new":
                raise ValueError(f"{sure} were sure and {now} are left")
            sure = now
        except Exception as error:
            row["problems"].append(f"{moment}: {type(error).__name__}: {error!s:.500}")
            return row
        if finished:
            row["ended before"] += 1
        else:
            row["moments"].append(moment)
            row["found"].append(found if sure == 0 or found == "new" else "begun")
            if found == "new" or len(row["moments"]) == job.kills:
                row["next"].append(_finish(job, reference, folder, row))
        if (finished or found == "new") and not row["problems"]:
            folder, sure = _fresh(job, place, folder.name), 0
    if not row["problems"]:
        shutil.rmtree(folder)
    return row


def _kill(
    job: Job, reference: Reference, folder: Path, rng: random.Random, *, by_call: bool
) -> tuple[str, Ended]:
    """Run a job and kill it at some moment; return that too."""
    if not by_call:
        seconds = rng.uniform(0, reference.seconds)
        return f"{seconds:.3f} s", run(job.command, folder, seconds=seconds)
    # Each kind of call as often: there are many writes, and one rename that matters.
    call = rng.choice(sorted(reference.calls))
    n = rng.randint(1, reference.calls[call])
    kill = ("-e", f"inject={call}:signal=KILL:when={n}")
    tracer = ("strace", "-q", "-o", os.devnull, "-e", CALLS, *kill)
    return f"{call} {n}", run(job.command, folder, tracer=tracer)


def _check(job: Job, reference: Reference, folder: Path, ended: Ended, *, finished: bool) -> str:
    """Refuse an output that should not be; return which one it is: none, old or new."""
    state = job.state(folder)
    if job.name == ADDED:
        names = [name.text for name in Linker.load(folder / "index").synonyms]
        new = [name for name in names if name.startswith("one")]
        printed = len(ended.out.split())
        if len(new) not in (printed, printed + 1) or len(names) != 20 + len(new):
            raise ValueError(f"{printed} were printed, and {names[-3:]} are the last")
        return "begun"
    if state == reference.new:
        return "new"
    if state != reference.old or finished:
        raise ValueError("the output is not whole")
    return "old" if state else "none"


def _finish(job: Job, reference: Reference, folder: Path, row: dict[str, Any]) -> str:
    """Run a job to its end, with the flags that its messages ask for; return these."""
    flags: list[str] = []
    while True:
        ended = run((*job.command, *flags), folder)
        asked = re.search("--(?:resume|overwrite)", ended.error)
        if ended.code != 2 or not asked or asked[0] in flags:
            break
        flags.append(asked[0])
    is_done = job.name == "synonyms remove" and row["found"][-1] == "new"
    if ended.code and not is_done:
        row["problems"].append(f"the next run: {ended.code}, {flags}, {ended.error[-500:]}")
        return " ".join(flags) or "no flag"
    try:
        state = job.state(folder)
    except Exception as error:
        state = repr(error)
    if state != reference.new:
        row["problems"].append(f"the next run, {flags}, has another output: {state:.300}")
    left = sorted(set(_listed(folder)) ^ set(reference.files))
    if left:
        row["problems"].append(f"after the next run, {flags}, files differ: {left[:9]}")
    return " ".join(flags) or "no flag"


# --- all ------------------------------------------------------------------------------------------


def chosen_jobs(commands: str) -> list[Job]:
    """Return the jobs of some commands, by the first words of their names."""
    wanted = tuple(word for word in commands.split(",") if word)
    return [job for job in jobs() if not wanted or job.name.startswith(wanted)]


def run_all(chosen: Sequence[Job], kills: int, seed: int, place: Path, workers: int) -> list[Any]:
    """Kill all jobs; rows that a log in the folder has are not made again."""
    if not (place / "inputs").exists():
        make_inputs(place / "making")
        (place / "making").rename(place / "inputs")
    log = place / f"kills-{seed}.jsonl"
    done = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    known = {row["number"]: row for row in done}
    whole = sum(job.share for job in chosen)
    plan = [
        (f"{job.name.replace(' ', '-')}-{each}", job)
        for job in chosen
        for each in range(max(1, round(job.share * kills / whole / job.kills)))
    ]
    random.Random(seed).shuffle(plan)
    waiting = {job.name: job for number, job in plan if number not in known}
    references = {name: measure(job, place) for name, job in waiting.items()}
    for job, found in references.items():
        print(f"{job:26} {found.seconds:5.2f} s, {sum(found.calls.values())} calls", flush=True)

    def one(entry: tuple[str, Job]) -> dict[str, Any]:
        number, job = entry
        if number in known:
            return known[number]
        row = kill_job(job, references[job.name], place, number, f"{seed} {number}")
        return {"number": number, **row}

    rows = []
    with ThreadPoolExecutor(workers) as pool, log.open("a") as stream:
        for n, row in enumerate(pool.map(one, plan), start=1):
            rows.append(row)
            if row["number"] not in known:
                stream.write(json.dumps(row) + "\n")
                stream.flush()
            for problem in row["problems"]:
                print(f"{row['number']}: {problem}", flush=True)
            if not n % 10:
                n_kills = sum(len(each["moments"]) for each in rows)
                print(f"{n_kills:,} kills, {n:,} of {len(plan):,} runs", flush=True)
    return rows


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Count, for one command, what was found after kills and what the next runs needed."""
    moments = [moment for row in rows for moment in row["moments"]]
    return {
        "kills": len(moments),
        "at a system call": sum(not moment.endswith(" s") for moment in moments),
        "found": dict(Counter(found for row in rows for found in row["found"])),
        "last run needed": dict(Counter(flags for row in rows for flags in row["next"])),
        "longest life of a child": max((row["outlived"] for row in rows), default=0.0),
        "ended before the kill": sum(row["ended before"] for row in rows),
        "problems": sum(len(row["problems"]) for row in rows),
    }


def main() -> None:
    """Kill, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--kills", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--commands", default="", help="only these, such as link,train")
    arguments.add_argument("--workers", type=int, default=1, help="commands at a time")
    arguments.add_argument("--folder", type=Path, help="keep everything here and go on with it")
    options = arguments.parse_args()
    with TemporaryDirectory() as scratch:
        place = options.folder or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        chosen = chosen_jobs(options.commands)
        rows = run_all(chosen, options.kills, options.seed, place.resolve(), options.workers)
    table = {job.name: summary([row for row in rows if row["job"] == job.name]) for job in chosen}
    total = {
        key: sum(line[key] for line in table.values())
        for key in ("kills", "at a system call", "ended before the kill", "problems")
    }
    print(json.dumps(total))
    if not options.commands:
        save("kills", {"seed": options.seed, **total, "commands": table}, packages=["numpy"])


if __name__ == "__main__":
    main()
