"""What holds for every test: the user's keys, profile and history are left alone."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def _user_folders_of_the_tests(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield
