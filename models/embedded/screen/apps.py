"""Which app a screenshot shows: by its text, the words of its layout and the file name, the text winning over the name."""

import functools
import re
from dataclasses import dataclass
from importlib.resources import files

from pydantic import TypeAdapter

from models.embedded.screen.layout import Screen

UNKNOWN_APP = "未知"

_FILE_NAME = 4.0  # what a file name is worth; a text must be worth more to contradict it
_CONTAINER_NAME = 7.0  # apps that show other apps' texts (messages, browsers, settings) are believed longer
_NAME_AS_TITLE = 3.0
_ALIAS_AS_TITLE = 2.0
_MENTION = 1.2
_OWN_WORDS = 2.5
_LAYOUT_WORD = 0.7
_MOST_TEXT = 9.0
_ENOUGH = 1.8
_MARGIN = 0.5
_CONTAINERS = frozenset({"短信", "设置", "应用商店", "相册", "备忘录", "日历", "文件管理", "邮箱", "Gmail", "手机管家", "电话"})
_STAMP = re.compile(r"\d{4}-?\d{2}-?\d{2}[-_ ]?(?:\d{2}[-_.]?\d{2}[-_.]?\d{2})?(?:[-_.]\d{3})?")
_LAUNCHERS = re.compile(r"launcher|one ui home|systemui|system ui|\bhome\b|桌面|com\.miui\.home|锁屏|keyguard|com\.android\.launcher", re.I)
_IOS_NAME = re.compile(r"^(IMG_\d{4}|截屏|Screenshot \d{4}-)", re.I)
_ADDRESS = re.compile(r"^(?:https?://)?(?:[a-z0-9-]+\.)+[a-z]{2,12}(?:/\S*)?$", re.I)


@dataclass(frozen=True, slots=True)
class App:
    """`marks`: words only this app shows, or its name; `layout`: words that together suggest it; `pages`: kinds whose category
    replaces the app's (`*`: any)."""

    name: str
    category: str
    aliases: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    layout: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name.casefold() for name in (self.name, *self.aliases))


@dataclass(frozen=True, slots=True)
class AppGuess:
    """`app` is None for a name that is only known from the file name, or not at all."""

    name: str
    app: App | None
    by: str  # text | filename | layout | none


@functools.cache
def apps() -> tuple[App, ...]:
    lines = files(__package__).joinpath("apps.jsonl").read_text(encoding="utf8").splitlines()
    return tuple(map(TypeAdapter(App).validate_json, lines))


@functools.cache
def canonical_app(name: str) -> str:
    """The canonical name of an app known by another one (`WeChat` → 微信); any other name unchanged."""
    app = _by_name().get(name.strip().casefold())
    return app.name if app else name.strip()


def guess_app(screen: Screen, *, file_name: str) -> AppGuess:
    label = _label(file_name)
    named = _by_label(label)
    scored = [(_text_score(screen, app) + (_weight(app) if app is named else 0), app) for app in apps()]
    (best_score, best), (next_score, _) = sorted(scored, key=lambda entry: -entry[0])[:2]
    if best is named:
        return AppGuess(best.name, best, "filename")
    if label and named is None and _is_readable(label) and best_score < _NAME_AS_TITLE:
        return AppGuess(label, None, "filename")
    if best_score >= _ENOUGH and (best_score - next_score >= _MARGIN or named is not None):
        return AppGuess(best.name, best, "text" if any(screen.has(mark) for mark in best.marks) else "layout")
    return _browser(screen, file_name=file_name) or AppGuess(UNKNOWN_APP, None, "none")


def _text_score(screen: Screen, app: App) -> float:
    named = app.name.replace(" ", "") in screen.header
    score = _NAME_AS_TITLE if named else _ALIAS_AS_TITLE if any(alias in screen.header for alias in app.aliases) else 0.0
    shown = [mark for mark in app.marks if screen.has(mark)]
    own = sum(mark.casefold() not in app.names for mark in shown)
    score += _OWN_WORDS * own + (_MENTION if own < len(shown) and not named else 0)
    seen = sum(_shows(screen, word) for word in app.layout)
    if seen >= 3 or (seen == 2 and score > 0):
        score += _LAYOUT_WORD * seen
    return min(score, _MOST_TEXT)


def _shows(screen: Screen, word: str) -> bool:
    """A short word of a layout stands alone; within a sentence it says nothing."""
    return word in screen.cells if len(word) <= 2 else screen.has(word)


def _weight(app: App) -> float:
    return _CONTAINER_NAME if app.name in _CONTAINERS or app.category == "webpage" else _FILE_NAME


def _label(file_name: str) -> str:
    """What a phone wrote behind the time: an app's label or package (`Screenshot_20261129-203512_WeChat.png` → `WeChat`)."""
    stem = re.sub(r"\.(png|jpe?g|webp|heic|gif|bmp|tiff?|avif)$", "", file_name.strip(), flags=re.I)
    stamps = list(_STAMP.finditer(stem))
    if not stamps:
        return ""
    label = re.sub(r"\s*\(\d+\)$", "", stem[stamps[-1].end() :].lstrip("-_ .")).strip()
    return "" if _LAUNCHERS.search(label) or label.replace("_", "").isdigit() else label


def _by_label(label: str) -> App | None:
    if not label:
        return None
    key = label.casefold()
    app = _by_name().get(key) or _by_package().get(key)
    if app is None and "." in key:
        package = next((known for known in _by_package() if "." in known and key.startswith(known + ".")), None)
        app = _by_package()[package] if package else None
    return app


def _is_readable(label: str) -> bool:
    return "." not in label and "_" not in label and 2 <= len(label) <= 20 and re.search(r"[^\W\d_]{2}", label) is not None


def _browser(screen: Screen, *, file_name: str) -> AppGuess | None:
    """A page's address above or below a text: a browser. iPhones name their files in their own way and bring Safari."""
    edges = [cell.text.replace(" ", "") for row in (*screen.rows[:1], *screen.rows[-2:]) for cell in row]
    if not any(_ADDRESS.match(text) for text in edges):
        return None
    app = _by_name()["safari" if _IOS_NAME.match(file_name) else "浏览器"]
    return AppGuess(app.name, app, "layout")


@functools.cache
def _by_name() -> dict[str, App]:
    return {name: app for app in reversed(apps()) for name in app.names}


@functools.cache
def _by_package() -> dict[str, App]:
    return {package: app for app in apps() for package in app.packages}
