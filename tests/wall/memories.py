"""Places where a student's check could keep a number from one function to the next.

Each is code for the first cell of a notebook: ``put(number)`` keeps a number below 500
there, ``get()`` gives it back, or None. ``memories.jsonl`` has for most of them an
expression that keeps ``number``, and one that gives it back or fails.
"""

import json
from pathlib import Path

CELL = """import numpy as np
{setup}
def put(number):
    {put}
def get():
    try:
        return {get}
    except Exception:
        return None
"""
with Path(__file__).with_suffix(".jsonl").open(encoding="utf-8") as file:
    PLACES = {one["place"]: CELL.format(**one) for one in map(json.loads, file)}
PLACES["a-thread"] = """import queue, threading
kept, asked = queue.Queue(), queue.Queue()
def hold(number):
    while True:
        asked.get()
        kept.put(number)
def put(number):
    threading.Thread(target=hold, args=(number,), daemon=True).start()
def get():
    if threading.active_count() < 2:
        return None
    asked.put(1)
    try:
        return kept.get(timeout=1)
    except queue.Empty:
        return None
"""
PLACES["a-process-that-stays"] = """import os, time
def put(number):
    if os.fork():
        time.sleep(0.05)
        return
    os.setsid()
    with open("number", "w") as file:
        file.write(str(number))
    os.rename("number", "kept")
    time.sleep(60)
def get():
    try:
        return int(open("kept").read())
    except OSError:
        return None
"""
