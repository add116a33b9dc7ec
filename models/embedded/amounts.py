"""Amounts of money in the text of a screenshot, and the one that the screenshot is about."""

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d+(?:\.\d{1,2})?"
_CURRENCIES = {
    "NT$": "TWD",
    "HK$": "HKD",
    "US$": "USD",
    "USD": "USD",
    "CNY": "CNY",
    "RMB": "CNY",
    "¥": "CNY",
    "￥": "CNY",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
}
_UNITS = {"元": "CNY", "块": "CNY", "万元": "CNY", "美元": "USD", "港币": "HKD", "欧元": "EUR", "日元": "JPY"}
_MARKED = re.compile(
    rf"(?<![\w.])(?P<sign>[-+−])?\s?(?P<mark>NT\$|HK\$|US\$|USD|CNY|RMB|[¥￥$€£])\s?(?P<inner>[-+−])?(?P<number>{_NUMBER})(?![\d.]*\d)"
)
_WITH_UNIT = re.compile(rf"(?P<sign>[-+−])?(?P<number>{_NUMBER})\s?(?P<unit>万元|美元|港币|欧元|日元|元|块)(?!素)")
_SIGNED = re.compile(r"(?:^|(?<=\s))(?P<sign>[-+−])\s?(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)\.\d{2})\s*$")
_BARE = re.compile(r"^\s*(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)\.\d{2})\s*$")
_IN_YUAN = re.compile(r"[（(]元[)）]\s*$")
_PAID = re.compile(
    r"实付|实际支付|总资产|应还|应缴|合计|共计|总计|总额|应付|支付金额|付款金额|交易金额|消费金额|付款|支出|total|amount paid|grand total",
    re.I,
)
_SETTLED = re.compile(
    r"支付成功|交易成功|已支付|已付款|付款成功|实付|转账成功|已被接收|已收款|已完成|已送达|账单详情|payment successful|paid", re.I
)
_NOT_SPENT = re.compile(r"优惠|满减|立减|折扣|省|红包抵|余额|单买价|原价|市场价|运费|配送费|打包费|discount|balance|saved", re.I)


@dataclass(frozen=True, slots=True)
class Amount:
    """`value` without sign; `sign` is -1 for money that left, 1 for money that came, 0 when the text does not say."""

    value: Decimal
    currency: str
    sign: int
    line: int  # index into the text's lines
    text: str  # as it stands on the screen

    @property
    def written(self) -> str:
        """As it stands, without a sign before it."""
        return self.text.lstrip("+-−").strip()


@dataclass(frozen=True, slots=True)
class Principal:
    """The amount a screenshot is about. `paid`: the text says that it was settled."""

    amount: Amount
    label: str  # the line it stands on, or the one before
    paid: bool


def amounts_in(lines: list[str]) -> list[Amount]:
    """Every amount of money, in reading order. A bare number is one only with two decimals, and a sign or `（元）` in the line before."""
    found: list[Amount] = []
    for index, line in enumerate(lines):
        matches = [*_MARKED.finditer(line), *_WITH_UNIT.finditer(line), *_SIGNED.finditer(line)]
        if index and _IN_YUAN.search(lines[index - 1]):
            matches += _BARE.finditer(line)
        taken: set[int] = set()
        for match in sorted(matches, key=lambda m: m.start("number")):
            if match.start("number") not in taken:
                taken.add(match.start("number"))
                found.append(_amount(match, index))
    return found


def _amount(match: re.Match[str], line: int) -> Amount:
    parts = match.groupdict()
    sign = parts.get("sign") or parts.get("inner")
    value = Decimal(parts["number"].replace(",", ""))
    unit = parts.get("unit")
    if unit == "万元":
        value *= 10000
    currency = _CURRENCIES.get(parts.get("mark") or "") or _UNITS.get(unit or "", "CNY")
    return Amount(value, currency, 0 if not sign else 1 if sign == "+" else -1, line, match[0].strip())


def principal_amount(text: str) -> Principal | None:
    """The labelled total, else money that left, else the largest amount that is no discount, fee or balance."""
    lines = text.splitlines()
    found = amounts_in(lines)
    paid = bool(_SETTLED.search(text))
    labelled = [a for a in found if _PAID.search(_label(lines, a)) and not _NOT_SPENT.search(_label(lines, a))]
    signed = [a for a in found if a.sign < 0 and not _NOT_SPENT.search(_label(lines, a))]
    plain = [a for a in found if a.sign >= 0 and not _NOT_SPENT.search(_label(lines, a))]
    if labelled:
        best = max(labelled, key=lambda a: ("实付" in _label(lines, a), a.line))
    elif signed:
        best, paid = signed[0], True
    elif plain:
        best = max(plain, key=lambda a: a.value)
    else:
        return None
    return Principal(best, _label(lines, best), paid)


def _label(lines: list[str], amount: Amount) -> str:
    """The amount's line without it; when nothing is left, the line before."""
    rest = lines[amount.line].replace(amount.text, "").strip(" :：")
    if rest or amount.line == 0:
        return rest
    before = lines[amount.line - 1].strip()
    return "" if re.fullmatch(r"[\d.,¥￥$+\-−\s]+", before) else before
