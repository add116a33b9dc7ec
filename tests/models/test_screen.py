"""Rules over text alone: rows as `cell | cell`, laid out as a phone would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.embedded.ocr import OcrLine, OcrResult
from models.embedded.screen.analyze import CATEGORIES, INTENTS, ScreenAnalysis, analyze_screen, kinds
from models.embedded.screen.apps import apps, canonical_app
from models.embedded.screen.entities import ENTITY_TYPES

PLAIN = "Screenshot_20261105_101010.jpg"


def laid_out(text: str) -> OcrResult:
    lines: list[OcrLine] = []
    for number, row in enumerate(filter(None, map(str.strip, text.split("\n")))):
        left = 40
        for cell in map(str.strip, row.split("|")):
            box = (left, 200 + number * 100, left + len(cell) * 40, 250 + number * 100)
            lines.append(OcrLine(text=cell, box=box, score=0.99, row=number))
            left = box[2] + 150
    return OcrResult(text=text, lines=lines, width=1080, height=2340)


def analysed(text: str, file_name: str = PLAIN) -> ScreenAnalysis:
    return analyze_screen(laid_out(text), file_name=file_name, width=1080, height=2340)


def values(found: ScreenAnalysis, kind: str) -> list[str]:
    return [entity["value"] for entity in found.entities if entity["type"] == kind]


@pytest.mark.parametrize(
    ("file_name", "app", "category"),
    [
        ("Screenshot_20261101-080808_WeChat.png", "微信", "chat"),
        ("Screenshot_20261101_080808_微信.jpg", "微信", "chat"),
        ("Screenshot_2026-11-01-08-08-08-123_com.jingdong.app.mall.jpg", "京东", "shopping"),
        ("Screenshot_20261101_080808_com.icbc.png", "中国工商银行", "finance"),
        ("Screenshot_20261101-080808_Gmail.png", "Gmail", "notification"),
        ("Screenshot_20261101-080808_Chrome.png", "Chrome", "webpage"),
        ("Screenshot_20261101_080808_com.sina.weibo.jpg", "微博", "social_media"),
        ("Screenshot_20261101_080808_云帆健身.jpg", "云帆健身", "other"),
        ("Screenshot_20261101_080808_One UI Home.jpg", "未知", "other"),
        ("Screenshot_2026-11-01-08-08-08-123_com.miui.home.jpg", "未知", "other"),
        ("mmexport1795147512345.jpg", "未知", "other"),
        ("wx_20261123083015.jpg", "未知", "other"),
    ],
)
def test_phones_write_the_app_into_the_file_name(file_name: str, app: str, category: str) -> None:
    found = analysed("随便一行字", file_name)
    assert (found.app_name, found.content_category) == (app, category)


@pytest.mark.parametrize(
    ("text", "app", "category"),
    [
        ("感谢您对美团的信任\n骑手|小孟师傅\n打包费|¥1\n配送费|¥4", "美团", "shopping"),
        ("账单详情\n收款方全称|晨光书店\n付款方式|花呗\n对此订单有疑问", "支付宝", "finance"),
        ("订单详情\n二等座|05车12F号\n检票口：A2\n改签|退票\n经停信息", "铁路12306", "other"),
        ("飞行模式\n无线局域网|Home\n蓝牙|打开\n个人热点", "设置", "tool"),
        ("微博正文\n来自 手机客户端\n转发|评论|赞", "微博", "social_media"),
        ("1068 2200\n【松果邮箱】验证码 705318，请勿转发。\n短信/彩信", "短信", "notification"),
        ("雪球\n云峰电子|SZ000999\n换手|3.2%\n市盈|22.1", "雪球", "finance"),
        ("设定\n飛行模式\n無線局域網|Home\n藍牙|打開\n個人熱點", "设置", "tool"),
    ],
)
def test_the_text_tells_the_app(text: str, app: str, category: str) -> None:
    found = analysed(text)
    assert (found.app_name, found.content_category) == (app, category)


def test_the_text_wins_over_a_file_name_it_contradicts() -> None:
    order = "美团外卖\n感谢您对美团的信任\n评价得美团币\n骑手|小孟师傅\n打包费|¥1\n配送费|¥4"
    assert analysed(order, "Screenshot_20261101-080808_Launcher.png").app_name == "美团"
    assert analysed(order, "Screenshot_20261101-080808_Gallery.png").app_name == "美团"
    assert analysed(order, "Screenshot_20261101-080808_Calculator.png").app_name == "美团"


def test_a_mention_of_another_app_does_not_win() -> None:
    assert analysed("【美团】验证码是 482910\n退订回T", "Screenshot_20261101-080808_com.android.mms.png").app_name == "短信"
    assert analysed("存储空间\n微信|31 GB\n支付宝|2 GB\n京东|1 GB", "Screenshot_20261101-080808_Settings.png").app_name == "设置"
    assert analysed("京东\n您的订单已发货\n好的谢谢", "Screenshot_20261101-080808_WeChat.jpg").app_name == "微信"


def test_a_chat_app_also_shows_bills_and_articles() -> None:
    name = "Screenshot_20261101_080808_com.tencent.mm.jpg"
    bill = "账单详情\n-12.00\n当前状态|支付成功\n支付时间|2026年11月1日\n商户全称|早安包子铺\n交易单号|4200001234202611010000"
    article = "如何选一把椅子\n先看坐深，再看靠背。\n阅读原文|写留言\n点赞在看\n喜欢作者"
    assert analysed(bill, name).content_category == "finance"
    assert analysed(article, name).content_category == "webpage"
    assert analysed("小周\n今晚看电影吗？七点的场次，影厅在三楼\n好呀", name).content_category == "chat"


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("订单详情\n乘车人|周楠\n二等座", "人名", ["周楠"]),
        ("参会人|周楠、程晓、林远 等6人", "人名", ["周楠", "程晓", "林远"]),
        ("医生|罗书宁 主治医师\n科室|口腔科", "人名", ["罗书宁"]),
        ("乘机人|ZHOU/NAN\n航班 SL3518", "人名", ["ZHOU/NAN"]),
        ("收款方全称|杭州小满食品有限公司", "公司", ["杭州小满食品有限公司"]),
        ("合计|¥1,240.50\n运费 12元\nUSD 35.00", "金额", ["¥1,240.50", "12元", "USD 35.00"]),
        ("到期日 2026-12-05\n12月9日 周三\nLast updated: November 2, 2026", "日期", ["2026-12-05", "12月9日", "November 2, 2026"]),
        ("14:00-14:30\n下午三点半\nGMT+08:00", "时间", ["14:00-14:30", "下午三点半"]),
        ("配送地址|梧桐里小区 9幢 1103室", "地点", ["梧桐里小区 9幢 1103室"]),
        ("南京南|G1927|武汉\n二等座", "车次", ["G1927"]),
        ("南京南|G1927|武汉\n二等座", "地点", ["南京南", "武汉"]),
        ("型号 G1927 说明书", "车次", []),
        ("山岚航空 SL3518\n登机口|待定", "航班", ["SL3518"]),
        ("致电 0571-8800-1234 或 199****0012", "电话", ["0571-8800-1234", "199****0012"]),
        ("pinewood.example/warranty\ncare@pinewood.example", "链接", ["pinewood.example/warranty", "care@pinewood.example"]),
        ("云峰电子\n300999|深\n换手|2.1%\n市盈|20", "股票", ["300999", "云峰电子"]),
        ("会议主题|冬季布展讨论\n《山间来信》", "项目", ["冬季布展讨论", "《山间来信》"]),
        ("【松果邮箱】验证码 705318，10分钟内有效", "取件码/验证码", ["705318"]),
        ("菜鸟驿站\n取件码|12-4-6031", "取件码/验证码", ["12-4-6031"]),
        ("Your verification code is 884213.", "取件码/验证码", ["884213"]),
        ("订单号|2026112722001406\n圆通速递 YT8805512260319", "订单号", ["2026112722001406", "YT8805512260319"]),
    ],
)
def test_entities_of_every_type(text: str, kind: str, expected: list[str]) -> None:
    assert values(analysed(text), kind) == expected


def test_the_clock_of_the_status_bar_is_no_entity() -> None:
    ocr = laid_out("会议\n15:00")
    ocr["lines"].insert(0, OcrLine(text="09:41", box=(40, 20, 140, 60), score=1.0, row=-1))
    found = analyze_screen(ocr, file_name=PLAIN, width=1080, height=2340)
    assert values(found, "时间") == ["15:00"]


def test_a_wrapped_sentence_is_one() -> None:
    lines = [
        OcrLine(text="【青岚图书馆】您预约的《山间", box=(40, 300, 640, 344), score=1.0, row=0),
        OcrLine(text="来信》已到馆，请于12月5日前", box=(40, 360, 640, 404), score=1.0, row=1),
        OcrLine(text="到服务台领取。", box=(40, 420, 360, 464), score=1.0, row=2),
    ]
    found = analyze_screen(OcrResult(text="", lines=lines, width=1080, height=2340), file_name=PLAIN, width=1080, height=2340)
    assert values(found, "项目") == ["《山间来信》"]
    assert "请于12月5日前到服务台领取" in found.summary


def test_a_summary_says_app_page_and_its_own_lines() -> None:
    found = analysed("账单详情\n晨光书店\n-36.00\n交易成功\n付款方式|花呗\n订单号|2026110122001406\n对此订单有疑问")
    assert found.summary.startswith("支付宝的账单详情截图（财务、账单、支付）")
    for told in ("晨光书店", "-36.00", "付款方式 花呗", "2026110122001406"):
        assert told in found.summary


def test_a_picture_without_text_says_so() -> None:
    found = analysed("", "IMG_20261119_063000.jpg")
    assert found == ScreenAnalysis("图片中没有文字，可能是照片或壁纸。", "未知", "other", "ignore", [], 0.3)


@given(st.lists(st.text(max_size=30), max_size=12))
def test_any_text_gives_an_analysis_out_of_its_own_words(rows: list[str]) -> None:
    ocr = laid_out("\n".join(rows))
    found = analyze_screen(ocr, file_name=PLAIN, width=1080, height=2340)
    assert found.content_category in CATEGORIES
    assert found.intent in INTENTS
    assert 0 <= found.confidence <= 1
    text = " ".join(line["text"] for line in ocr["lines"])
    for entity in found.entities:
        assert entity["type"] in ENTITY_TYPES
        assert "".join(entity["value"].split()) in "".join(text.split())


def test_the_vocabulary_is_consistent() -> None:
    names = [app.name for app in apps()]
    assert len(names) == len(set(names)) > 200
    assert all(app.category in CATEGORIES for app in apps())
    assert all(page == "*" or page in {kind.name for kind in kinds()} for app in apps() for page in app.pages)
    assert all(kind.strong for kind in kinds())
    packages = [package for app in apps() for package in app.packages]
    assert len(packages) == len(set(packages))


def test_an_app_has_one_canonical_name() -> None:
    assert canonical_app("WeChat") == canonical_app(" wechat ") == "微信"
    assert canonical_app("12306") == "铁路12306"
    assert canonical_app("某个新应用") == "某个新应用"
