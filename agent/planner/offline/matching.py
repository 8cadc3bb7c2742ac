"""Match a goal to recipes: how well each fits, and which come nearest when none does."""

from __future__ import annotations

from msgspec import Struct

from agent.lexicon.words import Token
from agent.planner.offline.filters import FilterReader, Frame
from agent.planner.offline.fitting import Binding, Fitter
from agent.planner.offline.grammar.grammar import Composed, Grammar
from agent.planner.offline.paths import is_folder
from agent.planner.offline.questions import asked_about
from agent.planner.offline.recipe_files import OWN, RecipeEntry
from agent.planner.offline.recipes import Book, Recipe
from agent.planner.offline.sentences import GoalContext, Sentence
from agent.planner.offline.values import Value

# A fit costs nothing when every word of the goal is explained. One word that nobody understands is one too
# many: what it asks for would be left out silently.
THRESHOLD = 0.7
NEAR = 0.1  # two words that nobody understands
UNEXPLAINED = 0.4
WEAK = 0.05


class Match(Struct, frozen=True, kw_only=True):
    """A recipe that fits. `score` is 0..1, `weight` says how specific the fit is."""

    recipe: Recipe
    score: float
    weight: int
    binding: Binding
    frame: Frame

    @property
    def is_own(self) -> bool:
        """Tell whether the person wrote it, and it fits: then it comes first."""
        return self.recipe.area == OWN and self.score >= THRESHOLD


class Reading(Struct, frozen=True, kw_only=True):
    """A goal as it was read: its tokens, its filters, fits above the threshold (best first), and what nobody understood.

    `composed` is what the grammar made of it, None where that came to nothing or not above the threshold. `near` and `nearly` are fits
    and what was composed below it, the nearest first. `aside`: what of the goal only says why, and was left out.
    """

    goal: str
    frame: Frame
    matches: tuple[Match, ...]
    unknown: tuple[str, ...] = ()
    composed: Composed | None = None
    sentence: Sentence
    near: tuple[Match, ...] = ()
    nearly: Composed | None = None
    aside: str = ""

    @property
    def tokens(self) -> list[Token]:
        return self.sentence.tokens


# Steps on lines for which recipes have a command of their own that is as good.
_RECIPES_KNOW = frozenset({"agg", "align", "cols", "longest", "shortest", "expand", "nocr", "crlf", "count", "skip"})


class _Fitting(Struct, frozen=True, kw_only=True):
    """The recipes that fit, the best first, and those that do but for some words; `lost`: what none explains, None where none came near."""

    matches: tuple[Match, ...]
    near: tuple[Match, ...]
    frame: Frame
    lost: tuple[str, ...] | None


class Matcher:
    """Reads goals with one book."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._filters = FilterReader(book.filters)
        self._grammar = Grammar()
        self._index = book.index

    def read(self, goal: str, scene: GoalContext, *, also: str = "") -> Reading:
        """Fit all recipes to a goal. `also` is a remark: filters in it replace those of the goal."""
        sentence = Sentence.read(goal, scene)
        fitting = self._fitting(sentence, scene, also)
        lost = fitting.lost
        composed = nearly = None if also else self._grammar.compose(sentence)
        if composed is not None and composed.score < THRESHOLD:
            lost = composed.unused if lost is None or len(composed.unused) < len(lost) else lost
            composed = None
        return Reading(
            goal=goal,
            sentence=sentence,
            frame=fitting.frame,
            matches=fitting.matches,
            unknown=lost or (),
            composed=composed,
            near=fitting.near,
            nearly=nearly if composed is None else None,
        )

    def _fitting(self, sentence: Sentence, scene: GoalContext, also: str) -> _Fitting:
        """The recipes that fit a sentence, the best first."""
        tokens = sentence.tokens
        frames: dict[tuple[str, ...], Frame] = {}

        def frame_without(ignored: tuple[str, ...]) -> Frame:
            if ignored not in frames:
                found = self._filters.read(sentence, ignored)
                later = self._filters.read(Sentence.read(also, scene), ignored) if also else None
                frames[ignored] = _merge(found, later) if later is not None else found
            return frames[ignored]

        plural = int(any(token.low in ("files", "folders", "directories") for token in tokens))
        present = {token.concept for token in tokens if not token.quoted} - asked_about(tokens)
        best: dict[str, Match] = {}
        lost: tuple[str, ...] | None = None
        for recipe, phrasing in self._index.near(present):
            frame = frame_without(recipe.entry.ignores)
            if recipe.entry.filters and not suits(recipe, frame):
                continue
            taken = frozenset(frame.used) if recipe.entry.filters else frozenset()
            binding = Fitter(phrasing, sentence, taken).fit()
            if binding is None or not (binding.words or recipe.entry.filters):
                continue  # a bare "src" or "in notes.txt" does not say what to do
            if recipe.area == "text" and "file" in binding.values and _no_lines(binding.values["file"], scene):
                continue  # `grep x src` and `wc -l .` only fail; a recipe for folders may fit
            left = [
                token
                for at, token in enumerate(tokens)
                if at not in binding.used and at not in taken and not token.filler
            ]
            unknown = [token for token in left if not token.weak]
            score = 1.0 - binding.cost - UNEXPLAINED * len(unknown) - WEAK * (len(left) - len(unknown))
            if score < THRESHOLD:
                strange = tuple(dict.fromkeys(sentence.typed(token) for token in unknown))
                lost = strange if lost is None or len(strange) < len(lost) else lost
            weight = 3 * binding.literals + 2 * binding.slots
            if recipe.entry.filters:
                # "files" speaks for a search, "the file called x" for that one file.
                weight += 2 * len(frame.groups) + (-4 if frame.singular else plural)
            match = Match(recipe=recipe, score=score, weight=weight, binding=binding, frame=frame)
            if score < NEAR:
                continue
            known = best.get(recipe.entry.id)
            if known is None or (match.score, match.weight) > (known.score, known.weight):
                best[recipe.entry.id] = match
        ranked = sorted(
            best.values(), key=lambda m: (not m.is_own, -round(m.score, 3), -m.weight, m.recipe.entry.filters)
        )
        fits = [match.score >= THRESHOLD for match in ranked].count(True)
        return _Fitting(matches=tuple(ranked[:fits]), near=tuple(ranked[fits:]), frame=frame_without(()), lost=lost)

    def entry_of(self, match: Match | None, composed: Composed | None) -> RecipeEntry | None:
        """The recipe whose words fit the result of a command: its own, or for what was composed that of searches."""
        if match is not None:
            return match.recipe.entry
        lists = composed is not None and composed.intent.source in ("files", "content") and not composed.intent.action
        entries = (recipe.entry for recipe in self.book.recipes)
        return next((entry for entry in entries if lists and entry.id == "find.list"), None)


def prefers_grammar(reading: Reading) -> bool:
    """Tell whether the grammar understood a goal better than any recipe: more of its words, or as much and more precisely.

    Recipes take the words of a goal in any order, which says less about files and lines than the grammar knows of them;
    everything else they know better.
    """
    if reading.composed is None:
        return False
    if not reading.matches:
        return True
    best = reading.matches[0]
    if best.is_own:
        return False
    mine, theirs = round(reading.composed.score, 3), round(best.score, 3)
    one_fact = reading.composed.command.startswith(("stat -c %y", "stat -c %U", "stat -c %a", "stat -c %s"))
    if one_fact and mine == theirs and best.recipe.area in ("files", "permissions"):
        return True  # what was asked, and no more
    if mine != theirs or best.recipe.area not in ("find", "text"):
        return mine > theirs
    if best.recipe.area == "text" and not _as_well(reading.composed):
        return True  # which lines, and what of them, is said by the order of the words
    if best.recipe.entry.defaults.keys() - best.binding.values.keys() and reading.composed.intent.stages:
        return True  # the recipe supposes what nobody said ("the last line" is one, not ten)
    intent = reading.composed.intent
    steps = best.recipe.entry.command.count(" | ") + 1
    composed = len(intent.stages) > steps or intent.sink.path is not None or intent.source == "content"
    return best.recipe.entry.filters or composed


def _as_well(composed: Composed) -> bool:
    """Tell whether recipes say as well what was composed: one column, a sum, a frequency, a conversion of whole files."""
    ops = {stage.op for stage in composed.intent.stages}
    return bool(composed.intent.action) or ops <= _RECIPES_KNOW or "uniq_c" in ops


def _no_lines(value: Value, scene: GoalContext) -> bool:
    """Tell whether a path holds no lines of text: a folder, or an archive."""
    return is_folder(value, scene) or value.text.endswith((".tar", ".tgz", ".zip", ".gz", ".bz2", ".xz"))


def suits(recipe: Recipe, frame: Frame) -> bool:
    """Tell whether the filters of the goal are of the sort that the recipe works on."""
    wants = recipe.entry.wants
    if "content" in wants and not frame.content:
        return False
    if ("folder" in wants and frame.type != "d") or ("link" in wants and not _is_link(frame)):
        return False
    if "file" in wants and frame.type in ("d", "l", "any"):
        return False
    if "narrow" in wants and not frame.groups - {"type"}:
        return False  # "delete files" does not say which
    if "named" in wants and not ("name" in frame.tests and frame.many):
        return False  # whole trees go only by their name, and several only where several were meant
    if "empty" in wants and "empty" not in frame.groups:
        return False
    return frame.is_about_files or "any" in wants


def _is_link(frame: Frame) -> bool:
    return frame.type == "l" or "-xtype l" in frame.tests.get("type", ())


def _merge(frame: Frame, later: Frame) -> Frame:
    """The frame of a goal with what a remark said about it; the remark wins group by group."""
    if later.root is not None:
        frame.root = later.root
    if later.names:
        frame.names = later.names
    frame.type = later.type if later.type and not later.names else frame.type
    frame.tests = frame.tests | later.tests
    frame.excluded_folders = frame.excluded_folders + later.excluded_folders
    frame.excluded_names = frame.excluded_names + later.excluded_names
    frame.content = later.content or frame.content
    frame.lacking = later.lacking or frame.lacking
    frame.nocase = frame.nocase or later.nocase
    frame.depth = later.depth or frame.depth
    frame.groups |= later.groups
    return frame
