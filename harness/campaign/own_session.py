"""Gives the process that imports it a session of its own, so that signals to ours pass it by."""

import os

os.setsid()
