"""Processes of tests: forks of one process, so that one alone imports Numba, polars and the engine."""

import json
import subprocess
import sys
from contextlib import contextmanager
from multiprocessing import get_context

PRELOADED = ["psycopg", "lowregret.testing", "lowregret.engine.backends.cpu"]
"""Not polars, which starts threads: a fork must not meet one that holds a lock."""
LIMIT_SECONDS = 200
"""How long a process of tests lives at most."""

SERVER = """
import json, os, signal, sys, traceback
from types import ModuleType
from numba import config
import lowregret.engine.bridge.compile, lowregret.policies
lowregret.Policy

def run(job, number):
    os.chdir(job["folder"])
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{name}{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.environ.update(job["environ"])
    config.reload_config()
    sys.path.insert(0, job["folder"])
    sys.argv = job["arguments"]
    script = sys.modules["__main__"] = ModuleType("__main__")
    if os.path.exists(sys.argv[0]):
        script.__file__ = sys.argv[0]
    exec(compile(job["code"], sys.argv[0], "exec"), vars(script))

for line in sys.stdin:
    children = []
    for number, job in enumerate(json.loads(line)):
        child = os.fork()
        if not child:
            failed = 1
            signal.alarm(LIMIT_SECONDS)
            try:
                run(job, number)
                failed = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush(), sys.stderr.flush()
                os._exit(failed)
        children.append(child)
    print(json.dumps([os.waitpid(child, 0)[1] for child in children]), flush=True)
"""


def context():
    """Return the context of ``multiprocessing`` for pools whose processes are forked by another one."""
    made = get_context("forkserver" if sys.platform == "linux" else "spawn")
    made.set_forkserver_preload(PRELOADED)
    return made


@contextmanager
def running(call, **pipes):
    """Start a program that does not outlive the block, whatever happens there."""
    with subprocess.Popen(call, text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


class Forks:
    """Runs scripts in forks of a process."""

    def __init__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        code = SERVER.replace("LIMIT_SECONDS", str(LIMIT_SECONDS))
        self.server = subprocess.Popen([sys.executable, "-c", code], **pipes)

    def run(self, folder, code, *more, count=1, environ=None, name="-c"):
        """Run a script in new processes at once; return what each has printed."""
        job = {"folder": str(folder), "code": code, "arguments": [name, *more], "environ": environ or {}}
        self.server.stdin.write(json.dumps([job] * count) + "\n")
        self.server.stdin.flush()
        codes = json.loads(self.server.stdout.readline())
        assert codes == [0] * count, [(folder / f"err{number}").read_text() for number in range(count)]
        return [(folder / f"out{number}").read_text() for number in range(count)]

    def close(self):
        """End the process."""
        self.server.stdin.close()
        try:
            self.server.wait(60)
        finally:
            self.server.kill()
        self.server.stdout.close()
