"""How the embedded chat model reads words, weighs screenshots and takes values off them, by kinds."""

import json
from datetime import datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from models.embedded.chat.ask import Part, understand
from models.embedded.chat.evidence import Shot, judge
from models.embedded.chat.member import respond
from models.embedded.chat.read import value_of
from models.embedded.chat.words import read

NOW = datetime.fromisoformat("2026-09-28T12:00:00+08:00")


def shot(text: str, *, number: int = 1, app: str = "未知", taken_at: str = "2026-09-20T10:00:00+08:00") -> Shot:
    return Shot(id=number, app=app, category="other", taken_at=taken_at, filename=f"{number}.png", summary="", text=text)


def part(question: str) -> Part:
    return understand(question, history=[], now=NOW).parts[0]


def terms(question: str) -> list[str]:
    return [term.text for term in read(question).terms]


def told(question: str, screen: Shot) -> str:
    asked = part(question)
    value = value_of(asked.asks[0], asked, screen)
    return value.text if value else ""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("班会开了没", ["班会"]),
        ("分红到了多少", ["分红"]),
        ("居住证在哪办", ["居住证"]),
        ("胆固醇高不高", ["胆固醇"]),
        ("吸顶灯推荐哪款", ["吸顶灯"]),
    ],
)
def test_a_word_is_read_whole_and_talk_around_it_is_left_out(question: str, expected: list[str]):
    assert [text for text in terms(question) if len(text) > 1] == expected


@pytest.mark.parametrize(
    ("question", "matter"),
    [
        ("What time does my train leave?", "train"),
        ("I refunded the shoes, how much?", "refund"),
        ("when is the tennis match", "网球"),
        ("二手的那台", "second_hand"),
        ("网页打不开", "unreachable"),
        ("下次产检", "pregnancy"),
    ],
)
def test_what_is_asked_is_known_by_the_words_people_use(question: str, matter: str):
    assert matter in {term.concept.name for term in read(question).terms if term.concept}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("高铁几点发车", "小区通知\n电动车请停入车棚\n18:00 后充电"),
        ("社保交了多少", "公交公司\n持社保卡乘车八折\n票价 2元"),
        ("身份证号是多少", "预约成功\n请携带身份证到场\n流水号 8830127719"),
        ("猫粮多少钱", "待取件\n豆腐猫砂 10kg\n¥45.00"),
        ("信用卡哪天还款", "实付 ¥30.00\n支付方式 花呗\n9月12日"),
        ("日语考试几点", "大学英语\n期末考试 09:00"),
    ],
)
def test_a_word_within_another_is_no_answer(question: str, text: str):
    assert judge(part(question), [shot(text)]) == []


def test_a_keyword_is_found_wherever_it_is_written():
    assert judge(part("社保"), [shot("持社保卡乘车八折")])


def test_a_word_of_a_summary_leaves_room_for_those_that_say_it_otherwise():
    filed = Shot(1, "携程旅行", "shopping", "2026-09-20T10:00:00+08:00", "1.png", "酒店订单（酒店、住宿）", "海棠酒店\n10月2日入住\n大床房")
    english = shot("Your reservation at Alder Inn\nCheck-in October 9\n2 guests", number=2)
    assert {one.shot.id for one in judge(part("住宿"), [filed, english])} == {1, 2}


def test_every_code_of_a_list_is_told_and_only_that_of_a_named_parcel():
    parcels = shot("待取件 2\n取件码 3-1-5520\n中通快递\n吸顶灯\n取件码 6-4-1093\n韵达快递\n台历")
    assert told("我的取件码是多少", parcels) == "3-1-5520、6-4-1093"
    assert told("台历的取件码", parcels) == "6-4-1093"


def test_a_booking_gives_the_signed_amount_above_its_purpose():
    statement = shot("交易明细\n花木公司 -88.20\n09-12 绿植养护 余额 900.00\n超市 -31.50\n09-11 快捷支付 余额 988.20")
    assert "88.20" in told("绿植花了多少钱", statement)


def test_codes_of_different_kinds_are_different_matters():
    assert len(understand("门锁密码和取票码分别是什么", history=[], now=NOW).parts) == 2
    assert len(understand("会议号和密码是多少", history=[], now=NOW).parts) == 1


def test_sums_go_over_all_matters_and_count_a_screenshot_once():
    def counted(query: str, *items: tuple[int, str]) -> ToolMessage:
        listed = [
            {"ids": [number], "app": "未知", "taken_at": "2026-09-20T10:00:00+08:00", "summary": "", "amount": amount, "currency": "CNY"}
            for number, amount in items
        ]
        aggregate = {"count": len(items), "groups": len(items), "apps": {}, "sums": {"CNY": "0.00"}, "items": listed}
        found = {"tool": "search_knowledge", "query": query, "time_range": None, "total": len(items), "aggregate": aggregate, "hits": []}
        return ToolMessage(json.dumps(found), tool_call_id=query)

    asked = AIMessage("", tool_calls=[{"name": "search_knowledge", "args": {"query": query}, "id": query} for query in ("茶", "面包")])
    results = [counted("茶", (1, "20.00"), (2, "5.50")), counted("面包", (2, "5.50"), (3, "9.00"))]
    answer = respond([HumanMessage("茶和面包一共花了多少钱"), asked, *results], offered=frozenset())
    assert isinstance(answer, str)
    assert "34.50" in answer
    assert "3 张" in answer
