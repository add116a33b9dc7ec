"""Time words, asked on Wednesday 2026-06-10 at 10:30 in Shanghai."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.search.dates import parse_time, strip_time, time_role

NOW = datetime(2026, 6, 10, 10, 30, tzinfo=ZoneInfo("Asia/Shanghai"))

DAYS = """
大前天 2026-06-07 2026-06-08 | 昨晚 2026-06-09 2026-06-10 | 今儿 2026-06-10 2026-06-11 | 前日傍晚 2026-06-08 2026-06-09
礼拜五 2026-06-05 2026-06-06 | 周三 2026-06-10 2026-06-11 | 上个礼拜天 2026-06-07 2026-06-08 | 下周二 2026-06-16 2026-06-17
周末 2026-06-06 2026-06-08 | 上周末 2026-06-06 2026-06-08 | 上周工作日 2026-06-01 2026-06-06 | 上周一到周三 2026-06-01 2026-06-04
上上个月 2026-04-01 2026-05-01 | 上个月底 2026-05-21 2026-06-01 | 本月初 2026-06-01 2026-06-11 | 五月中旬 2026-05-11 2026-05-21
月底 2026-05-21 2026-06-01 | 上个月十五号 2026-05-15 2026-05-16 | 31号 2026-05-31 2026-06-01 | 二十号 2026-05-20 2026-05-21
七月 2025-07-01 2025-08-01 | 去年十月 2025-10-01 2025-11-01 | 前年3月8日 2024-03-08 2024-03-09 | 二〇二五年十二月 2025-12-01 2026-01-01
3月到5月 2026-03-01 2026-06-01 | 12月到2月 2025-12-01 2026-03-01 | 3-5月 2026-03-01 2026-06-01 | 20到25号 2026-05-20 2026-05-26
5月28日到6月3日 2026-05-28 2026-06-04 | 昨天到今天 2026-06-09 2026-06-11 | 3月1日以来 2026-03-01 2026-06-11 | 5月之前 1970-01-01 2026-05-01
两周前 2026-05-27 2026-05-28 | 半个月前 2026-05-26 2026-05-27 | 两三天前 2026-06-07 2026-06-09 | 一百天前 2026-03-02 2026-03-03
30小时前 2026-06-09 2026-06-10 | 近七天 2026-06-03 2026-06-11 | 最近半年 2025-12-10 2026-06-11 | 过去24小时 2026-06-09 2026-06-11
前两天 2026-06-08 2026-06-10 | 三天内 2026-06-07 2026-06-11 | 第三季度 2025-07-01 2025-10-01 | 去年Q4 2025-10-01 2026-01-01
本季度 2026-04-01 2026-07-01 | 下半年 2026-07-01 2027-01-01 | 年初 2026-01-01 2026-02-01 | 年底 2025-12-01 2026-01-01
5/20-5/25 2026-05-20 2026-05-26 | 去年下半年 2025-07-01 2026-01-01 | 去年夏天 2025-06-01 2025-09-01 | 去年今天 2025-06-10 2025-06-11
双十一 2025-11-11 2025-11-12 | 国庆假期 2025-10-01 2025-10-08 | 今年国庆 2026-10-01 2026-10-02 | 除夕 2026-02-16 2026-02-17
去年中秋节 2025-10-06 2025-10-07 | 母亲节 2026-05-10 2026-05-11 | 十一长假 2025-10-01 2025-10-08 | 618 2025-06-18 2025-06-19
2026-05-20 2026-05-20 2026-05-21 | 2026/5/20 2026-05-20 2026-05-21 | 20260520 2026-05-20 2026-05-21 | ２０２６年５月 2026-05-01 2026-06-01
today 2026-06-10 2026-06-11 | yesterday evening 2026-06-09 2026-06-10 | the day before yesterday 2026-06-08 2026-06-09
last Friday 2026-06-05 2026-06-06 | Tuesday last week 2026-06-02 2026-06-03
this week 2026-06-08 2026-06-15 | past week 2026-06-03 2026-06-11
the week before last 2026-05-25 2026-06-01 | last weekend 2026-06-06 2026-06-08 | the last three days 2026-06-07 2026-06-11
two weeks ago 2026-05-27 2026-05-28 | a couple of days ago 2026-06-08 2026-06-09 | since Monday 2026-06-08 2026-06-11
in October 2025-10-01 2025-11-01 | October 2024 2024-10-01 2024-11-01 | May 20th 2026-05-20 2026-05-21 | 5 Oct 2025-10-05 2025-10-06
March 3, 2025 2025-03-03 2025-03-04 | from May 20 to June 3 2026-05-20 2026-06-04
early May 2026-05-01 2026-05-11
the end of last month 2026-05-21 2026-06-01 | Q4 2025 2025-10-01 2026-01-01 | last quarter 2026-01-01 2026-04-01
last summer 2025-06-01 2025-09-01 | Christmas 2025-12-25 2025-12-26
first half of 2025 2025-01-01 2025-07-01 | on the 8th 2026-06-08 2026-06-09
"""
CASES = [tuple(case.rsplit(maxsplit=2)) for line in DAYS.strip().splitlines() for case in line.split(" | ")]
NONE = """
最近三张截图 | 最近 | 3号口 | 8号线 | 一日三餐 | 五一路 | 十一点 | 7-3-2208 | 三年级 | 今日头条
目前天气 | 一共花了 | 说明天气 | 等一下月饼 | 2月30日 | 13月 | G7315
may I see it | I sat in the sun | the last one | recent screenshots | last 5 screenshots | room 2025 bill | first photo | Feb 30
"""


@pytest.mark.parametrize(("phrase", "start", "end"), CASES)
def test_days(phrase: str, start: str, end: str) -> None:
    found = parse_time(phrase, now=NOW)
    assert found
    assert (found.start.date().isoformat(), found.end.date().isoformat()) == (start, end)
    assert found.start.tzinfo is NOW.tzinfo


@pytest.mark.parametrize("text", [case.strip() for line in NONE.strip().splitlines() for case in line.split("|")])
def test_no_time(text: str) -> None:
    assert parse_time(text, now=NOW) is None


@pytest.mark.parametrize(
    ("question", "phrase", "rest"),
    [
        ("帮我看看昨天晚上八点存的菜谱", "昨天晚上八点", "帮我看看 存的菜谱"),
        ("我上個月花了多少錢", "上個月", "我 花了多少錢"),
        ("五月一共花了多少", "五月", "一共花了多少"),
        ("What did I save since last Monday?", "since last Monday", "What did I save ?"),
        ("receipts from May 20 to 25", "from May 20 to 25", "receipts"),
    ],
)
def test_found_inside_a_question(question: str, phrase: str, rest: str) -> None:
    found = parse_time(question, now=NOW)
    assert found
    assert found.phrase == phrase
    assert strip_time(question, found) == rest


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("昨天截了几张图", "capture"),
        ("国庆拍的照片", "capture"),
        ("5月的截图", "capture"),
        ("5月花了多少钱", "capture"),
        ("上周六买了什么", "capture"),
        ("前天的群聊", "capture"),
        ("What did I save in May?", "capture"),
        ("今天", "capture"),
        ("5月20日的机票", "matter"),
        ("明天的面试几点", "matter"),
        ("六月的体检预约在哪", "matter"),
        ("双十二的优惠券", "matter"),
        ("my flight on May 20", "matter"),
    ],
)
def test_time_of_capture_or_of_the_matter(question: str, role: str) -> None:
    found = parse_time(question, now=NOW)
    assert found
    assert time_role(question, found, now=NOW) == role


def test_days_are_those_of_the_zone() -> None:
    found = parse_time("昨天", now=datetime(2026, 6, 9, 20, 0, tzinfo=UTC).astimezone(NOW.tzinfo))
    assert found
    assert found.start.isoformat() == "2026-06-09T00:00:00+08:00"


@given(st.text() | st.text(alphabet="上下前后大今昨明个周月年日号季度半最近过去0123456789一二十到-/.最节 May in last"))
def test_any_text_gives_a_range_in_order_or_none(text: str) -> None:
    found = parse_time(text, now=NOW)
    assert found is None or (found.start < found.end and found.phrase in text)
