"""Choice of this machine's sandbox: Linux namespaces, else Landlock, else advice."""

from __future__ import annotations

import contextlib
import platform
import sys
from functools import cache
from pathlib import Path

from autograder.errors import NoSandbox
from autograder.wall.records import Wall
from autograder.wall.warm_process import WarmProcess


@cache
def best() -> Wall:
    """The wall that students' code is put behind here, or NoSandbox."""
    try:
        try_wall("namespaces")
        return "namespaces"
    except NoSandbox as no_namespaces:
        try:
            try_wall("landlock")
            return "landlock"
        except NoSandbox as no_landlock:
            raise NoSandbox(_advice(str(no_namespaces), str(no_landlock))) from None


def try_wall(wall: Wall) -> None:
    """Build a wall and take it down again; NoSandbox if it does not stand here."""
    parent = WarmProcess("sandbox", "none", wall)
    try:
        parent.wait_until_ready()
    except OSError as error:
        raise NoSandbox(str(error)) from None
    finally:
        parent.stop()


def available() -> str | None:
    """None if a wall works here, else a sentence: why not, and what to do."""
    if sys.platform != "linux":
        return (
            f"{platform.system()} has neither user namespaces nor Landlock, and the "
            "sandbox needs one of them. Grade in a Linux virtual machine or "
            "container, or with --no-sandbox if you trust every submission."
        )
    try:
        best()
    except NoSandbox as error:
        return str(error)
    return None


def _advice(error: str, second: str) -> str:
    """What to do on this Linux, by the settings that forbid namespaces."""
    reason = (
        f"Linux does not let this user create namespaces here ({error}), and the "
        f"sandbox without namespaces does not work either ({second}). "
    )
    otherwise = " You can also grade with --no-sandbox if you trust every submission."
    for setting, forbidding, remedy in (
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "On Ubuntu, an administrator can allow namespaces with `sudo sysctl "
            "kernel.apparmor_restrict_unprivileged_userns=0`.",
        ),
        (
            "kernel/unprivileged_userns_clone",
            "0",
            "On Debian, an administrator can allow namespaces with `sudo sysctl "
            "kernel.unprivileged_userns_clone=1`.",
        ),
        (
            "user/max_user_namespaces",
            "0",
            "An administrator can allow namespaces with `sudo sysctl "
            "user.max_user_namespaces=10000`.",
        ),
    ):
        with contextlib.suppress(OSError):
            if Path("/proc/sys", setting).read_text().strip() == forbidding:
                return reason + remedy + otherwise
    return (
        reason + "In a container, the usual reason is the container's seccomp profile: "
        "start the container with `--security-opt seccomp=unconfined "
        "--security-opt systempaths=unconfined`, or grade outside the container."
        + otherwise
    )
