"""Many small cases in one test: what a test of its own costs is more than most of them do.

`@each` stands where `@pytest.mark.parametrize` would. Every case is tried, whatever the ones before it gave, and the
test fails once, naming all that failed. Fixtures are shared by the cases: what changes one needs tests of its own.
"""

from __future__ import annotations

import inspect
import itertools
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]
# Of so many the whole story is told; of the others, only that they failed.
TOLD = 20
_PART = "part_of_the_table"


class Failed(AssertionError):
    """Cases that failed; the text names each and says why."""


def each(
    names: str | Sequence[str],
    rows: Iterable[Any],
    *,
    ids: Callable[[Any], str] | Iterable[str] | None = None,
    parts: int = 1,
) -> Callable[[Test], Test]:
    """Call the test with every row of values for `names`, and with the fixtures that it asks for besides.

    As with `parametrize`, one name takes bare values, several (also "a, b") take sequences of them. A case is named by
    its values, or `ids`: what it gives for the row, or one name for each. No rows are an error, and so is a case that
    skips: what was skipped has to be seen in the report. A table that takes long is `parts` tests, which processes share.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    listed = list(rows)
    single = isinstance(names, str) and len(given) == 1
    cases = [(row,) if single else tuple(row) for row in listed]
    assert cases, f"there is no case of {given}"
    assert all(len(case) == len(given) for case in cases), f"not all rows have {len(given)} values"
    if ids is None:
        said = [", ".join(f"{name}={_short(value)}" for name, value in zip(given, case, strict=True)) for case in cases]
    else:
        said = [ids(row) for row in listed] if callable(ids) else list(ids)
        assert len(said) == len(cases), "there is not one name for each case"

    def decorate(test: Test) -> Test:
        assert not inspect.iscoroutinefunction(test), "cases are called, not awaited"

        def all_cases(**fixtures: Any) -> None:
            part = fixtures.pop(_PART, 0)
            wrong, tried = [], list(zip(said, cases, strict=True))[part::parts]
            for name, case in tried:
                try:
                    test(**dict(zip(given, case, strict=True)), **fixtures)
                except (pytest.skip.Exception, pytest.xfail.Exception) as error:
                    raise RuntimeError(f"{name} may not skip among others: {error}") from error
                except (Exception, pytest.fail.Exception) as error:
                    wrong.append((name, error))
            if wrong:
                raise Failed(_told(wrong, len(tried)))

        all_cases.__dict__.update(test.__dict__)  # marks
        all_cases.__name__ = all_cases.__qualname__ = test.__name__
        all_cases.__doc__, all_cases.__module__ = test.__doc__, test.__module__
        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in given]
        assert len(left) == len(signature.parameters) - len(given), f"{test.__name__} does not take all of {given}"
        if parts > 1:
            left.append(inspect.Parameter(_PART, inspect.Parameter.KEYWORD_ONLY))
        all_cases.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return pytest.mark.parametrize(_PART, range(parts))(all_cases) if parts > 1 else all_cases

    return decorate


def _short(value: Any) -> str:
    text = value if isinstance(value, str) and value.isprintable() else repr(value)
    return text if len(text) <= 100 else f"{text[:70]}...{text[-20:]}"


def _told(wrong: list[tuple[str, BaseException]], tried: int) -> str:
    lines = [f"{len(wrong)} of {tried} cases failed"]
    for name, error in wrong[:TOLD]:
        lines.append(f"--- {name}")
        if isinstance(error, Failed):
            lines.append(str(error))
        else:
            # The first frame is ours.
            frames = traceback.extract_tb(error.__traceback__)[1:]
            lines += [f"{frame.filename}:{frame.lineno}: in {frame.name}" for frame in itertools.islice(frames, 8)]
            lines += traceback.format_exception_only(error)
    lines += [f"--- {name}" for name, _ in wrong[TOLD:]]
    return "\n".join(lines)
