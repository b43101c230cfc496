"""Environment variables of student code in the sandbox: a fixed set, none inherited."""

from __future__ import annotations

import os
import sys
import tempfile

ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
}
NO_DEVICE = {"CUDA_VISIBLE_DEVICES": ""}  # forks cannot use what their parent opened


def set_environment(home: str, temporary: str) -> None:
    """These variables, and no other."""
    os.environ.clear()
    os.environ |= {
        "HOME": home,
        "USER": "student",
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TMPDIR": temporary,
        "MPLBACKEND": "agg",
        **ONE_THREAD,
        **NO_DEVICE,
    }
    tempfile.tempdir = None  # looked up again
