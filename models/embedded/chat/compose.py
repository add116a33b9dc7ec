"""Answers in Markdown, made of what the tools returned. Every claim cites its screenshots."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from memory.language import Language
from models.embedded.amounts import principal_amount
from models.embedded.chat.ask import Ask, Inquiry, Part
from models.embedded.chat.evidence import LITERAL, Evidence, Shot, judge
from models.embedded.chat.phrases import PHRASES, SHAPE_NAMES
from models.embedded.chat.read import Value, excerpt, value_of

Result = Mapping[str, Any]
_QUOTED = 560  # characters of quotes in one answer
_LEAST_QUOTE = 90
_MOST_QUOTES = 4
_ANSWERED = 0.3  # added to a screenshot's score when it has what was asked for
_NEAR_BEST = 0.9
_LONGEST_CELL = 70
_WEB_RESULTS = 3
_LONGEST_SNIPPET = 160


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of the question, the screenshots that carry it, and per ask the best value with its screenshot."""

    part: Part
    evidence: tuple[Evidence, ...]
    values: tuple[tuple[Ask, Value, Shot], ...] = ()
    beyond_time: bool = False  # found only outside the time that was asked about

    @property
    def by_other_words(self) -> bool:
        """Whether no screenshot has the one matter asked for in its own words, so that more may have it in yet others."""
        alone = len(self.part.terms) == 1 and self.part.terms[0].kind == "concept" and not self.part.asks
        return alone and not any(one.literal for one in self.evidence)


def screenshots(results: Sequence[Result]) -> list[Shot]:
    """Every screenshot the tools handed out, in the order they did, each once."""
    shots: dict[int, Shot] = {}
    for result in results:
        for hit in result.get("hits") or []:
            shots.setdefault(int(hit["id"]), Shot.of(hit))
    return list(shots.values())


def findings(inquiry: Inquiry, results: Sequence[Result]) -> list[Finding]:
    """What was found for each part."""
    return [_find(inquiry, part, results) for part in inquiry.parts]


def _find(inquiry: Inquiry, part: Part, results: Sequence[Result]) -> Finding:
    shots = screenshots(results)
    within = _within(part, shots, results)
    evidence = judge(part, within, newest=inquiry.newest) if part.terms else _literal(inquiry, within)
    beyond = False
    if not evidence and len(within) < len(shots):
        evidence, beyond = judge(replace(part, dates=part.filtered), shots, newest=inquiry.newest), True
    beyond = bool(evidence) and (beyond or (part.time is not None and within is shots and _dropped(part, results)))
    kept = _answering_first(part, evidence, newest=inquiry.newest)
    return Finding(part, tuple(kept), tuple(_values(part, kept)), beyond)


def _within(part: Part, shots: list[Shot], results: Sequence[Result]) -> list[Shot]:
    """The screenshots of the part's own time."""
    ranges = [result["time_range"] for result in results if result.get("time_range")]
    own = next((span for span in ranges if span["phrase"] == part.time), None)
    if part.time is None or own is None:
        return shots
    start, end = datetime.fromisoformat(own["start"]), datetime.fromisoformat(own["end"])
    return [shot for shot in shots if start <= shot.when < end]


def _dropped(part: Part, results: Sequence[Result]) -> bool:
    return any(result.get("filter_dropped") for result in results)


def _literal(inquiry: Inquiry, shots: Sequence[Shot]) -> list[Evidence]:
    """For a message without a word the lexicon could take apart: screenshots that hold it as it stands."""
    wanted = inquiry.question.strip()
    return [Evidence(shot, 1.0, literal=True) for shot in shots if wanted and wanted in shot.text]


def _answering_first(part: Part, evidence: Sequence[Evidence], *, newest: bool) -> list[Evidence]:
    if not part.asks or not evidence:
        return list(evidence)
    rated = [replace(one, score=one.score + _ANSWERED * _share_answered(part, one.shot)) for one in evidence]
    best = max(rated, key=lambda one: one.score)
    near = best.score * (LITERAL if best.literal else _NEAR_BEST)
    kept = [one for one in rated if one.score >= near]
    return kept if newest else sorted(kept, key=lambda one: -one.score)


def _share_answered(part: Part, shot: Shot) -> float:
    found = [value_of(ask, part, shot) for ask in part.asks]
    return sum(1.0 if value and value.sure else 0.5 if value else 0.0 for value in found) / len(found)


def _values(part: Part, evidence: Sequence[Evidence]) -> list[tuple[Ask, Value, Shot]]:
    """Per ask the first sure value, else the first one; never the same value twice."""
    chosen: list[tuple[Ask, Value, Shot]] = []
    for ask in part.asks:
        found = [(value, one.shot) for one in evidence if (value := value_of(ask, part, one.shot))]
        found.sort(key=lambda pair: not pair[0].sure)
        if found and not any(found[0][0].text == value.text for _, value, _ in chosen):
            chosen.append((ask, *found[0]))
    return chosen


def compose(inquiry: Inquiry, results: Sequence[Result], found: Sequence[Finding]) -> str:
    """The final answer out of the tools' results and what `findings` made of them.

    Says plainly when nothing fits, and then cites nothing.
    """
    web = _web(inquiry, [result for result in results if result.get("tool") == "web_search"])
    library = [result for result in results if result.get("tool") != "web_search"]
    if not library:
        return web or _not_found(inquiry, inquiry.parts)
    if inquiry.mode == "list" or any(part.app for part in inquiry.parts):
        body = _listing(inquiry, library)
    elif inquiry.count and (counted := _counted(inquiry, library)):
        body = counted
    else:
        body = _answers(inquiry, found)
    return "\n\n".join(filter(None, (web, body)))


# ---- matters ---------------------------------------------------------------------------------------------------------------
def _answers(inquiry: Inquiry, found: Sequence[Finding]) -> str:
    said = PHRASES[inquiry.language]
    there = [finding for finding in found if finding.evidence]
    if not there:
        return _not_found(inquiry, inquiry.parts)
    blocks = [_head(inquiry, there)]
    missing = [finding.part for finding in found if not finding.evidence]
    if missing:
        blocks.append(said["part_missing"].format(what=_named(missing)))
    quotes = sum(min(_MOST_QUOTES, len(_grouped(finding.evidence))) for finding in there)
    budget = max(_LEAST_QUOTE, _QUOTED // max(1, quotes))
    quoted: set[int] = set()
    for finding in there:
        blocks += _quotes(inquiry, finding, budget=budget, quoted=quoted)
    return "\n\n".join(block for block in blocks if block)


def _head(inquiry: Inquiry, found: Sequence[Finding]) -> str:
    """The values asked for: a table when the question has several parts, else lines."""
    said = PHRASES[inquiry.language]
    notes = [said["beyond_time"].format(time=finding.part.time) for finding in found if finding.beyond_time]
    if len(found) > 1 and any(finding.values for finding in found):
        rows = [[_matter(finding), _cell(_told(finding, inquiry.language)), _cite(_first_group(finding))] for finding in found]
        return "\n\n".join([*notes, _table(said["answer_columns"].split("|"), rows)])
    lines = [_value_line(finding, ask, value, shot, inquiry.language) for finding in found for ask, value, shot in finding.values]
    if lines:
        return "\n\n".join([*notes, "\n".join(lines)])
    count = len({one.shot.id for finding in found for one in finding.evidence})
    return "\n\n".join([*notes, said["found"].format(count=count)])


def _value_line(finding: Finding, ask: Ask, value: Value, shot: Shot, language: Language) -> str:
    name = _ask_name(ask, value, language)
    members = [one.shot for one in finding.evidence if one.shot.id == shot.id or (shot.group is not None and one.shot.group == shot.group)]
    return f"- {name}{'：' if language == 'zh' else ': '}**{_inline(value.text)}** {_cite(members)}"


def _ask_name(ask: Ask, value: Value, language: Language) -> str:
    if language == "zh" and value.label and ask.shape != "money" and re.search(r"[\u4e00-\u9fff]{2}", value.label):
        return _inline(value.label)
    return SHAPE_NAMES[ask.shape][language]


def _told(finding: Finding, language: Language) -> str:
    values = [f"**{_inline(value.text)}**" for _, value, _ in finding.values]
    return "；".join(values) if values else _clip(finding.evidence[0].shot.summary)


def _matter(finding: Finding) -> str:
    return _cell(" ".join(term.text for term in finding.part.terms if term.kind != "label") or finding.part.text)


def _first_group(finding: Finding) -> list[Shot]:
    shown = finding.values[0][2] if finding.values else finding.evidence[0].shot
    return [one.shot for one in finding.evidence if one.shot.id == shown.id or (shown.group is not None and one.shot.group == shown.group)]


def _grouped(evidence: Sequence[Evidence]) -> list[list[Shot]]:
    groups: dict[int, list[Shot]] = {}
    for one in evidence:
        groups.setdefault(one.shot.group if one.shot.group is not None else -one.shot.id, []).append(one.shot)
    return list(groups.values())


def _quotes(inquiry: Inquiry, finding: Finding, *, budget: int, quoted: set[int]) -> list[str]:
    """One quote per near-duplicate group; beyond a few, the rest as a table."""
    groups = [group for group in _grouped(finding.evidence) if group[0].id not in quoted]
    blocks = []
    for group in groups[:_MOST_QUOTES]:
        shot = group[0]
        quoted.update(member.id for member in group)
        values = [value for _, value, source in finding.values if source.id == shot.id]
        text = excerpt(shot, finding.part, values=values, budget=budget) if shot.lines else PHRASES[inquiry.language]["no_text"]
        blocks.append(f"**{_inline(shot.app)}** · {_when(shot)} {_cite(group)}\n> {_inline(text)}")
    rest = [shot for group in groups[_MOST_QUOTES:] for shot in group]
    quoted.update(shot.id for shot in rest)
    return [*blocks, _shot_table(rest, inquiry.language)] if rest else blocks


# ---- lists and counts ------------------------------------------------------------------------------------------------------
def _listing(inquiry: Inquiry, results: Sequence[Result]) -> str:
    said = PHRASES[inquiry.language]
    shots = sorted(screenshots(results), key=lambda shot: (shot.when, shot.id), reverse=True)
    about_money = any(ask.shape == "money" for ask in inquiry.asks)
    if about_money:
        shots = [shot for shot in shots if (found := principal_amount(shot.text)) and found.paid] or [
            s for s in shots if principal_amount(s.text)
        ]
    if not shots:
        return said["none_in_time"].format(time=inquiry.time) if inquiry.time else said["none_at_all"]
    if inquiry.count and (counted := _counted(inquiry, results)):
        return counted
    if about_money:
        part = inquiry.parts[0]
        evidence = tuple(Evidence(shot, 1.0) for shot in shots)
        finding = Finding(
            part, evidence, tuple((ask, value, shot) for ask in part.asks for shot in shots if (value := value_of(ask, part, shot)))
        )
        return _answers(inquiry, [finding])
    total = max(int(result.get("total") or 0) for result in results)
    head = said["listed_time"] if inquiry.time else said["listed"]
    more = said["more"].format(total=total) if total > len(shots) and inquiry.time else ""
    return "\n\n".join(filter(None, (head.format(count=len(shots), time=inquiry.time), _shot_table(shots, inquiry.language), more)))


def _shot_table(shots: Sequence[Shot], language: Language) -> str:
    said = PHRASES[language]
    rows = [[_when(shot), _cell(shot.app), _cell(_clip(shot.summary or said["no_text"])), _cite([shot])] for shot in shots]
    return _table(said["shot_columns"].split("|"), rows)


def _counted(inquiry: Inquiry, results: Sequence[Result]) -> str:
    """Figures over every row that matches, as the tool counted them."""
    said = PHRASES[inquiry.language]
    figures = _figures([result["aggregate"] for result in results if result.get("aggregate") and result["aggregate"]["count"]])
    if figures is None:
        return ""
    money = any(ask.shape == "money" for ask in inquiry.asks)
    lines = [said["counted"].format(count=figures["count"])]
    if figures["groups"] < figures["count"]:
        lines.append(said["counted_groups"].format(groups=figures["groups"]))
    if money and figures["sums"]:
        sums = "、".join(f"**{value} {currency}**" for currency, value in figures["sums"].items())
        lines.insert(0, said["sum"].format(sums=sums, count=len(figures["items"])))
        rows = [
            [_when_text(item["taken_at"]), _cell(item["app"]), _amount(item), "".join(f"[截图#{i}]" for i in item["ids"])]
            for item in figures["items"]
        ]
        return "\n\n".join(["\n".join(lines), _table(said["sum_columns"].split("|"), rows)])
    shots = sorted(screenshots(results), key=lambda shot: (shot.when, shot.id), reverse=True)
    return "\n\n".join(["\n".join(lines), _shot_table(shots, inquiry.language)])


def _figures(aggregates: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The figures of all matters together; a screenshot that belongs to several counts once."""
    if len(aggregates) < 2:
        return aggregates[0] if aggregates else None
    items = {tuple(item["ids"]): item for figures in aggregates for item in figures["items"]}
    repeated = sum(len(figures["items"]) for figures in aggregates) - len(items)
    sums: dict[str, Decimal] = {}
    for item in items.values():
        if item["amount"]:
            sums[item["currency"]] = sums.get(item["currency"], Decimal()) + Decimal(item["amount"])
    return {
        "count": sum(figures["count"] for figures in aggregates) - repeated,
        "groups": sum(figures["groups"] for figures in aggregates) - repeated,
        "sums": {currency: f"{value:.2f}" for currency, value in sums.items()},
        "items": sorted(items.values(), key=lambda item: str(item["taken_at"]), reverse=True),
    }


def _amount(item: Mapping[str, Any]) -> str:
    return f"{item['amount']} {item['currency']}" if item.get("amount") else "–"


# ---- the web and nothing ---------------------------------------------------------------------------------------------------
def _web(inquiry: Inquiry, results: Sequence[Result]) -> str:
    if not results:
        return ""
    said = PHRASES[inquiry.language]
    found = [hit for result in results for hit in result.get("results") or []][:_WEB_RESULTS]
    if found:
        lines = [
            f"- [{_inline(_clip(str(hit.get('title', ''))))}]({_address(hit)})：{_inline(str(hit.get('content', ''))[:_LONGEST_SNIPPET])}"
            for hit in found
        ]
        return "\n".join([said["web_found"], "", *lines])
    return said["web_not_configured"] if any(result.get("error") == "not_configured" for result in results) else said["web_failed"]


def _address(hit: Mapping[str, Any]) -> str:
    return re.sub(r"[\s()<>]", lambda match: f"%{ord(match[0]):02X}", str(hit.get("url", "")))


def _not_found(inquiry: Inquiry, parts: Sequence[Part]) -> str:
    return PHRASES[inquiry.language]["nothing"].format(what=_named(parts) or _inline(inquiry.question[:40]))


def _named(parts: Sequence[Part]) -> str:
    return "、".join(dict.fromkeys(_inline(" ".join(term.text for term in part.terms))[:40] for part in parts if part.terms))


# ---- Markdown --------------------------------------------------------------------------------------------------------------
def _cite(shots: Sequence[Shot]) -> str:
    return "".join(f"[截图#{shot.id}]" for shot in shots)


def _when(shot: Shot) -> str:
    return _when_text(shot.taken_at)


def _when_text(iso: str) -> str:
    return iso[:16].replace("T", " ")


def _inline(text: str) -> str:
    """Foreign text on one line, unable to pass for a citation of ours."""
    return " ".join(text.split()).replace("[截图#", "［截图#")


def _cell(text: str) -> str:
    return _inline(text).replace("|", "｜")


def _clip(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else text[:_LONGEST_CELL] + "…"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
