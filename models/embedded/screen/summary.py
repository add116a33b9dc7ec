"""Two or three sentences about a screenshot: what page it is, and its own lines, verbatim."""

import re
from collections.abc import Iterator

from models.embedded.screen.apps import UNKNOWN_APP
from models.embedded.screen.layout import Cell, Screen, pairs

NO_TEXT = "图片中没有文字，可能是照片或壁纸。"

_MOST_CONTENT = 170  # characters of the second sentence
_MOST_FACTS = 90
_LONGEST_TITLE = 40
_LONGEST_ROW = 60  # of a paragraph, the beginning is told
_TOLD = ("取件码/验证码", "车次", "航班", "订单号", "股票", "金额", "日期", "时间", "地点", "人名", "公司")
_BUTTONS = re.compile(
    r"首页|我的|发现|更多|分享|编辑|返回|取消|确定|完成|搜索|筛选|消息|通讯录|关注|推荐|写评论.*|扫码|扫一扫|复制|评论|点赞|收藏|转发|下一步|保存|删除|设置"
    r"|联系商家|申请售后|查看详情|全部|客服|购物车|立即.{1,4}|ESC|TAB|CTRL|ALT|HOME|END|[A-Z]|\W+"
)
_WORDS = re.compile(r"[\u3400-\u9fff]{2}|[A-Za-z]{3}")
_NO_TITLE = re.compile(r"[。】》；：]|^.{0,8}\d{1,2}:\d{2}")
_TELLING = re.compile(r"Error\b|Exception|失败|报错|取件码|验证码|合计|实付|截止|到期|逾期")


def summarise(screen: Screen, *, app: str, kind: str, domain: str, entities: list[dict[str, str]]) -> str:
    """`domain`: words people search such a page by. The rest is the picture's own text."""
    shown = "未知应用" if app == UNKNOWN_APP else app
    about = f"（{domain.replace(' ', '、')}）" if domain else ""
    title = _title(screen)
    first = f"{shown}的{kind or '页面'}截图{about}" + (f"，标题为「{title}」。" if title else "。")
    content = _content(screen, without=title)
    second = f"主要内容：{content}。" if content else ""
    facts = _facts(screen, entities, told=first + second)
    return first + second + (f"关键信息：{facts}。" if facts else "")


def _title(screen: Screen) -> str:
    """The first words of the page, or clearly larger ones just below."""
    cells = [cell for row in screen.rows[:4] for cell in row if 2 <= len(cell.text) <= _LONGEST_TITLE and _WORDS.search(cell.text)]
    cells = [cell for cell in cells if not _BUTTONS.fullmatch(cell.text) and not _NO_TITLE.search(cell.text)]
    if not cells:
        return ""
    largest = max(cells, key=lambda cell: cell.height)
    return (largest if largest.height >= 1.4 * cells[0].height else cells[0]).text


def _content(screen: Screen, *, without: str) -> str:
    """Rows in their order, the larger and longer ones first to be kept."""
    rows = [text for row in screen.rows if (text := _row_text(row)) and text != without and not _BUTTONS.fullmatch(text)]
    kept: set[int] = set()
    room = _MOST_CONTENT
    for number in sorted(range(len(rows)), key=lambda number: _rank(rows[number], number)):
        if len(rows[number]) <= room:
            kept.add(number)
            room -= len(rows[number]) + 1
    return "；".join(rows[number].rstrip("。；;") for number in sorted(kept))


def _row_text(row: tuple[Cell, ...]) -> str:
    text = " ".join(cell.text for cell in row if not _BUTTONS.fullmatch(cell.text))
    return text if len(text) <= _LONGEST_ROW else f"{text[:_LONGEST_ROW]}…"


def _rank(text: str, number: int) -> tuple[int, int]:
    """The top of a page says what it is; fragments say little wherever they stand."""
    return (0 if _TELLING.search(text) else 1 if len(text) >= 4 else 2, number)


def _facts(screen: Screen, entities: list[dict[str, str]], *, told: str) -> str:
    """What the sentences before leave out: labelled values, then entities by type."""
    facts: list[str] = []
    room = _MOST_FACTS
    for label, value in (*pairs(screen), *_by_type(entities)):
        fact = f"{label} {value}"
        if value not in told and len(fact) <= room and not any(value in known for known in facts):
            facts.append(fact)
            room -= len(fact) + 1
    return "；".join(facts)


def _by_type(entities: list[dict[str, str]]) -> Iterator[tuple[str, str]]:
    for wanted in _TOLD:
        values = [entity["value"] for entity in entities if entity["type"] == wanted]
        yield from ((wanted, value) for value in values[:3])
