"""What holds for all tests: how many cases property tests try.

An ordinary run tries few, and the same ones each time; `AGENT_TEST_PROFILE=thorough` tries many, and others each time.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ordinary", max_examples=30, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile(os.environ.get("AGENT_TEST_PROFILE", "ordinary"))
