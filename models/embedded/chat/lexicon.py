"""The related words of `words.toml` and the apps that screens show, by the words that name them."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from memory.search.stopwords import is_stop_word
from memory.search.text import normalise
from models.embedded.screen.apps import App, apps

Kind = Literal["word", "concept", "topic", "label"]
Shape = Literal["money", "time", "date", "duration", "code", "phone", "person", "place", "amount", "name", "text"]


@dataclass(frozen=True, slots=True)
class Concept:
    """A matter and its words, normalised. `words` name it, `signs` hint at it; see the head of the data file."""

    name: str
    kind: Kind
    words: tuple[str, ...]
    english: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    apps: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    outside: frozenset[str] = frozenset()
    shape: Shape | None = None
    soft: bool = False
    matter: bool = False


@dataclass(slots=True)
class Lexicon:
    """Concepts by each word that names them: Chinese words, and English phrases with their last word stemmed."""

    chinese: dict[str, list[Concept]] = field(default_factory=dict)
    english: dict[str, list[Concept]] = field(default_factory=dict)
    fillers: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()  # English nouns that mostly only follow what they are about
    whole: frozenset[str] = frozenset()  # further words that fillers and stop words do not break
    canonical: dict[str, str] = field(default_factory=dict)  # another name of an app → the name its screenshots are filed under

    def topic(self, word: str) -> Concept | None:
        """The broad topic that a word of a question names."""
        named = (*self.chinese.get(word, ()), *self.english.get(stem_phrase(word.split()), ()))
        return next((concept for concept in named if concept.kind == "topic"), None)


def stem(word: str) -> str:
    """An English word without its plural ending."""
    for ending, kept in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)] + kept
    return word


def verb_stems(word: str) -> tuple[str, ...]:
    """What an English word may be a past or an -ing form of: `refunded` → `refund`, `booking` → `book`."""
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3:
            doubled = base[:-1] if base[-1] == base[-2] else base
            return (base, f"{base}e", doubled)
    return ()


def stem_phrase(words: list[str]) -> str:
    return " ".join([*words[:-1], stem(words[-1])]) if words else ""


@cache
def lexicon() -> Lexicon:
    data = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf8"))
    made = Lexicon(
        fillers=frozenset(data["fillers"].split()),
        whole=frozenset(data["whole"].split()),
        heads=frozenset(data["heads"].split()),
        canonical={alias: app.name for app in apps() for alias in app.aliases},
    )
    kinds: tuple[Kind, ...] = ("label", "concept", "topic")
    for kind in kinds:
        for name, entry in data[kind].items():
            _enter(made, name, kind, entry)
    for app in apps():
        _enter_app(made, app)
    return made


def _enter(made: Lexicon, name: str, kind: Kind, entry: dict[str, Any]) -> None:
    own, english, kinds = _cut(entry["zh"]), _cut(entry["en"]), _narrower(entry)
    narrower = tuple(word for words, _ in kinds for word in words)
    listed = _cut(entry.get("labels", "")) if kind == "label" else ()
    concept = Concept(
        name=name,
        kind=kind,
        words=listed or (*own, *narrower),
        english=english,
        signs=_cut(entry.get("signs", entry.get("words", ""))),
        apps=frozenset(made.canonical.get(app, app) for app in map(_spaced, entry.get("apps", "").split())),
        categories=frozenset(entry.get("categories", "").split()),
        outside=frozenset(entry.get("outside", "").split()),
        shape=entry.get("kind"),
        soft=entry.get("soft", False),
        matter=entry.get("matter", False),
    )
    _name(made, concept, own, english)
    for words, phrases in kinds:
        _name(made, Concept(name=words[0], kind=kind, words=words, english=phrases, signs=concept.signs, soft=concept.soft), words, phrases)


def _enter_app(made: Lexicon, app: App) -> None:
    """An app by its names, except where a name means something already: `天气` is the weather first."""
    names = tuple(normalise(name) for name in (app.name, *app.aliases) if len(name) > 1)
    free = [name for name in names if name not in made.chinese and stem_phrase(name.split()) not in made.english and not is_stop_word(name)]
    concept = Concept(name=app.name, kind="concept", words=names, apps=frozenset({app.name}))
    _name(made, concept, [name for name in free if not name.isascii()], [name for name in free if name.isascii()])


def _name(made: Lexicon, concept: Concept, chinese: Iterable[str], english: Iterable[str]) -> None:
    for table, words in ((made.chinese, chinese), (made.english, (stem_phrase(phrase.split()) for phrase in english))):
        for word in words:
            known = table.setdefault(word, [])
            if concept not in known:
                known.append(concept)


def _narrower(entry: dict[str, Any]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    pairs = [item.partition("=") for item in str(entry.get("kinds", "")).split()]
    return [(_cut(zh.replace("/", " ")), _cut(english.replace(",", " "))) for zh, _, english in pairs]


def _cut(text: str) -> tuple[str, ...]:
    return tuple(normalise(_spaced(word)) for word in text.split())


def _spaced(word: str) -> str:
    return word.replace("_", " ")
