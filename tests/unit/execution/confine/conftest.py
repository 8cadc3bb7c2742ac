"""A throw-away home and workspace, once of root and once of a user."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from tests.unit.execution.confine.test_lock_hostile import Throwaway


@pytest.fixture(params=["root", "user"])
def world(request):
    if sys.platform != "linux" or (request.param == "root" and os.geteuid() != 0):
        pytest.skip("only root can be held as root")
    made = Throwaway(request.param)
    yield made
    shutil.rmtree(made.base)
