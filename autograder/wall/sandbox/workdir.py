"""A student's working folder where there are no namespaces: size checks, removal."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess

from autograder.wall.records import Limits

RESERVE = 1 << 30  # bytes of a disk that students leave to others


def remove(folder: str) -> None:
    """Remove a folder, whatever a student's code has made of it."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):  # folders closed by their mode, or very deep
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", folder], stderr=subprocess.DEVNULL)


def too_full(folder: str, bounds: Limits, more: int) -> bool:
    """Whether there are more files below than a submission may have, or larger ones."""
    left, files = bounds.disk_bytes + more, bounds.files
    pending = [folder]
    try:
        while pending:
            for entry in os.scandir(pending.pop()):
                with contextlib.suppress(FileNotFoundError):
                    left -= entry.stat(follow_symlinks=False).st_blocks * 512
                files -= 1
                if left < 0 or files < 0:
                    return True
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    except FileNotFoundError:  # changes while we look
        return False
    except OSError:  # a folder that is closed to us
        return True
    return False


def free(folder: str) -> int:
    """How many bytes can still be written there."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def runs_out(folder: str, before: int) -> bool:
    """Whether the disk is nearly full, and much of what was free ``before`` is gone.

    No folder shows files that were removed while they are open.
    """
    left = free(folder)
    return left < RESERVE and before - left > RESERVE
