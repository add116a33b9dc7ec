"""Pictures inside written text: Markdown, HTML and bare addresses. Code is text."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from memory.data_url import looks_like_media

IMAGE_EXTENSIONS = frozenset(
    ("png", "apng", "jpg", "jpeg", "jpe", "jfif", "pjpeg", "gif", "webp", "bmp", "dib", "tif", "tiff", "heic", "heif", "hif", "avif")
)
VIDEO_EXTENSIONS = frozenset(("mp4", "m4v", "webm", "mov", "qt"))

Form = Literal["markup", "bare"]


@dataclass(frozen=True, slots=True)
class Found:
    """A picture's place in a text. `markup` stands for the picture alone; a `bare` address is also one of the user's words."""

    start: int
    end: int
    target: str
    form: Form
    alt: str = ""


_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_TICKS = re.compile(r"`+")
_HTML_CODE = re.compile(r"<!--.*?-->|<(pre|code)\b[^<>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_DEFINITION = re.compile(
    r"^ {0,3}\[(?P<label>[^\[\]\n]{1,200})\]:[ \t]*\n?[ \t]*(?:<(?P<angled>[^<>\n]*)>|(?P<plain>\S+))"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.MULTILINE,
)
_BRACKET = re.compile(r"[\[\]\\`]|\n[ \t]*\n")
_PAREN = re.compile(r"[()\\\s]")
_ANGLED = re.compile(r"<((?:[^<>\n\\]|\\.)*)>")
_TITLE = re.compile(r"\s*(?:\s(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)", re.DOTALL)
_LINK_END = re.compile(r"\]\(\s*(?:<[^<>\n]*>|[^\s()<>]*)(?:\s+\"[^\"\n]*\")?\s*\)")
_LOOSE_TITLE = re.compile(r"\s+(?:\"[^\"]*\"|'[^']*'|“[^”]*”)\s*$")
_REFERENCE = re.compile(r"\[([^\[\]\n]{0,200})\]")
_TAG = re.compile(r"<(?:img|video|source)\b", re.IGNORECASE)
_TAG_BODY = re.compile(r"[^>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+')[^>\"']*+)*+>")
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|\w{2,31});", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")

_STOP = r"\s\\<>\"'`，。！？；：、）（】【》《」「』『”“’‘…—｜～　"
_ADDRESS = re.compile(rf"(?:https?://(?:(?![,;|]https?://)[^{_STOP}])+|asset://[\w-]{{1,64}})", re.IGNORECASE)
_BARE_DATA = re.compile(r"data:[\w.+/-]{0,100}(?:;[\w=.+-]{1,64}){0,4};base64,[A-Za-z0-9+/=_%-]*", re.IGNORECASE)
_BARE_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{64,}={0,2}(?![A-Za-z0-9+/=_-])")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_EXTENSION = re.compile(
    r"\.(" + "|".join(sorted(IMAGE_EXTENSIONS | VIDEO_EXTENSIONS, key=len, reverse=True)) + r")(?![A-Za-z0-9])", re.IGNORECASE
)
_STYLE = re.compile(r"(?:[!@~].*|/(?:resize|quality|format|thumbnail)\b.*|(?:[^/\w%.]|_)[^/]*|[.,;:!?]*)")
"""What may follow the extension in a path: a style suffix of a storage service, or the sentence's punctuation."""
_FORMAT_IN_QUERY = re.compile(
    r"(?:^|[&/,])(?:(?:format|fm|wx_fmt|ext|imgtype)[=/,](?:png|jpe?g|webp|gif|avif|heic|bmp)(?![a-z])|x-oss-process=image|image(?:view2|mogr2))",
    re.IGNORECASE,
)
_MAX_NESTING = 32


def find_media(text: str) -> list[Found]:
    """Pictures and videos in `text`, in order and without overlap, unresolved as written (entities and escapes undone)."""
    code = _code_ranges(text)
    definitions = _definitions(text, code)
    found = [*_markdown(text, code, definitions), *_tags(text, code)]
    defined = [match.span() for match in _DEFINITION.finditer(text)]
    taken = _merge([*code, *defined, *((item.start, item.end) for item in found)])
    found += _bare(text, taken)
    return _without_overlap(found)


def definition_ranges(text: str, used: list[Found]) -> list[tuple[int, int]]:
    """Where `text` defines the references that pictures of it use; these lines are markup, not words."""
    targets = {item.target for item in used}
    return [match.span() for match in _DEFINITION.finditer(text) if _defined_target(match) in targets]


def extension_of(path: str) -> str:
    """The picture or video extension of an address's path, lower case, style suffixes such as `!w750` aside; "" if none."""
    return next((match[1].lower() for match in _EXTENSION.finditer(path) if _STYLE.fullmatch(path, match.end())), "")


def _code_ranges(text: str) -> list[tuple[int, int]]:
    fences = _fences(text)
    return _merge([*fences, *_spans(text, fences), *(match.span() for match in _HTML_CODE.finditer(text))])


def _fences(text: str) -> list[tuple[int, int]]:
    """Fenced blocks; an unclosed one runs to the end."""
    ranges: list[tuple[int, int]] = []
    position = 0
    while opening := _FENCE.search(text, position):
        fence = opening[1]
        closing = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE).search(text, opening.end())
        position = closing.end() if closing else len(text)
        ranges.append((opening.start(), position))
    return ranges


def _spans(text: str, fences: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Code spans: a run of backticks up to the next run of the same length."""
    runs = [match for match in _TICKS.finditer(text) if not _inside(match.start(), fences)]
    by_length: dict[int, list[int]] = {}
    for index, run in enumerate(runs):
        by_length.setdefault(len(run[0]), []).append(index)
    index = 0
    while index < len(runs):
        run = runs[index]
        later = by_length[len(run[0])]
        while later and later[0] <= index:
            later.pop(0)
        if not later or _is_escaped(text, run.start()):
            index += 1
            continue
        yield run.start(), runs[later[0]].end()
        index = later[0] + 1


def _definitions(text: str, code: list[tuple[int, int]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _DEFINITION.finditer(text):
        if not _inside(match.start("label"), code):
            found.setdefault(_label(match["label"]), _defined_target(match))
    return found


def _defined_target(match: re.Match[str]) -> str:
    return _unescape(match["angled"] if match["angled"] is not None else match["plain"])


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _markdown(text: str, code: list[tuple[int, int]], definitions: dict[str, str]) -> Iterator[Found]:
    position = 0
    while (start := text.find("![", position)) >= 0:
        position = start + 2
        if _inside(start, code) or _is_escaped(text, start):
            continue
        close = _closing_bracket(text, start + 2)
        if close is None:
            continue
        found = _inline(text, start, close) or _reference(text, start, close, definitions)
        if found is not None:
            position = found.end
            if found.target:
                yield _with_link(text, found)


def _with_link(text: str, found: Found) -> Found:
    """A picture that is all there is of a link takes the link's markup with it."""
    link = _LINK_END.match(text, found.end)
    if link is None or text[found.start - 1 : found.start] != "[":
        return found
    return replace(found, start=found.start - 1, end=link.end())


def _closing_bracket(text: str, position: int) -> int | None:
    depth, skip = 1, -1
    for match in _BRACKET.finditer(text, position):
        if match.start() == skip:
            continue
        if match[0] == "\\":
            skip = match.end()
        elif match[0] == "[":
            depth += 1
        elif match[0] == "]":
            depth -= 1
        elif match[0] != "`":
            return None
        if depth == 0:
            return match.start()
        if depth > _MAX_NESTING:
            return None
    return None


def _inline(text: str, start: int, close: int) -> Found | None:
    """`![alt](<target> "title")`, also with blanks inside the target, which senders forget to encode."""
    if text[close + 1 : close + 2] != "(":
        return None
    begin = close + 2
    while text[begin : begin + 1].isspace():
        begin += 1
    if text[begin : begin + 1] == "<":
        angled = _ANGLED.match(text, begin)
        ending = _TITLE.match(text, angled.end()) if angled else None
        if angled and ending:
            return Found(start, ending.end(), _unescape(angled[1]), "markup", text[start + 2 : close])
    for loose in (False, True):
        stop = _closing_paren(text, begin, blanks=loose)
        ending = _TITLE.match(text, stop) if stop is not None else None
        if stop is not None and ending:
            target = text[begin:stop]
            target = _LOOSE_TITLE.sub("", target).strip() if loose else target
            return Found(start, ending.end(), _unescape(target), "markup", text[start + 2 : close])
    return None


def _closing_paren(text: str, begin: int, *, blanks: bool) -> int | None:
    """Where a target ends: at the unbalanced parenthesis or, if `blanks` may not belong to it, at white space."""
    depth, skip = 0, -1
    is_data = text[begin : begin + 5].lower() == "data:"
    for match in _PAREN.finditer(text, begin):
        char = match[0]
        if match.start() == skip:
            continue
        if char == "\\":
            skip = match.end()
        elif char == "(":
            depth += 1
        elif char == ")":
            if depth == 0:
                return match.start()
            depth -= 1
        elif not blanks:
            return match.start() if depth == 0 else None
        elif char == "\n" and not is_data:
            return None
        if depth > _MAX_NESTING:
            return None
    return None


def _reference(text: str, start: int, close: int, definitions: dict[str, str]) -> Found | None:
    alt = text[start + 2 : close]
    second = _REFERENCE.match(text, close + 1)
    label = second[1] if second and second[1].strip() else alt
    target = definitions.get(_label(label))
    if target is None:
        return None
    return Found(start, second.end() if second else close + 1, target, "markup", alt)


def _tags(text: str, code: list[tuple[int, int]]) -> Iterator[Found]:
    for match in _TAG.finditer(text):
        if _inside(match.start(), code):
            continue
        body = _TAG_BODY.match(text, match.end())
        if body is None:  # nothing after it is closed either
            return
        attributes = {item[1].lower(): item[2] or item[3] or item[4] or "" for item in _ATTRIBUTE.finditer(body[0])}
        source = attributes.get("src") or attributes.get("data-src") or attributes.get("srcset", "").split(" ")[0]
        if source.strip():
            yield Found(match.start(), body.end(), _entities(source.strip()), "markup", attributes.get("alt", ""))


def _bare(text: str, taken: list[tuple[int, int]]) -> Iterator[Found]:
    for match in _BARE_DATA.finditer(text):
        if not _inside(match.start(), taken):
            yield Found(match.start(), match.end(), match[0], "markup")
    for match in _ADDRESS.finditer(text):
        if not _inside(match.start(), taken):
            target = _picture_address(match[0])
            if target:
                yield Found(match.start(), match.start() + len(target), target, "bare")
    for match in _BARE_BASE64.finditer(text):
        if not _inside(match.start(), taken) and looks_like_media(match[0]):
            yield Found(match.start(), match.end(), match[0], "markup")


def _picture_address(run: str) -> str | None:
    """The part of a run of characters that is the address of a picture or video; None if it is none.

    Chinese text may follow without a blank; it belongs to the address only in a path before the extension.
    """
    if run.lower().startswith("asset://"):
        return run
    head = re.match(r"https?://[^/?#]+", run, re.IGNORECASE)
    if head is None or (_CJK.search(head[0]) and len(head[0]) == len(run)):
        return None
    path_end = min((index for index in (run.find("?"), run.find("#")) if index >= 0), default=len(run))
    for match in _EXTENSION.finditer(run, head.end(), path_end):
        later = _CJK.search(run, match.end())
        end = later.start() if later else len(run)
        if _STYLE.fullmatch(run, match.end(), min(end, path_end)):
            return _without_closing_marks(run[:end])
    query = run[path_end + 1 :]
    cut = _CJK.search(query)
    query = _without_closing_marks(query[: cut.start()] if cut else query)
    return run[: path_end + 1] + query if _FORMAT_IN_QUERY.search(query) else None


def _without_closing_marks(address: str) -> str:
    """Without the punctuation of the sentence around; a closing bracket stays when it was opened within."""
    while address:
        last = address[-1]
        opener = {")": "(", "]": "[", "}": "{"}.get(last)
        if last in ".,;:!?*_~|\\" or (opener and address.count(opener) < address.count(last)):
            address = address[:-1]
        else:
            return address
    return address


def _unescape(target: str) -> str:
    return _entities(_ESCAPE.sub(r"\1", target).strip())


def _entities(text: str) -> str:
    """Only entities that end in a semicolon: `&para=1` in a signed query is no ¶."""
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)


def _is_escaped(text: str, position: int) -> bool:
    slashes = 0
    while position > slashes and text[position - slashes - 1] == "\\":
        slashes += 1
    return slashes % 2 == 1


def _inside(position: int, ranges: list[tuple[int, int]]) -> bool:
    """`ranges` are sorted and disjoint."""
    low, high = 0, len(ranges)
    while low < high:
        middle = (low + high) // 2
        if ranges[middle][1] <= position:
            low = middle + 1
        else:
            high = middle
    return low < len(ranges) and ranges[low][0] <= position


def _merge(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _without_overlap(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for item in sorted(found, key=lambda item: (item.start, -item.end)):
        if not kept or item.start >= kept[-1].end:
            kept.append(item)
    return kept
