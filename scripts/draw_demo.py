"""Draws the demo library: phone screenshots with invented content, named as phones name them. `python scripts/draw_demo.py`."""

from collections.abc import Callable
from pathlib import Path

from demo_canvas import GREY, HEIGHT, WIDTH, Phone
from PIL import Image, ImageDraw

FOLDER = Path(__file__).resolve().parents[1] / "server" / "demo"
GREEN, BLUE, ORANGE, RED = "#07a35a", "#1677ff", "#ff6a00", "#d93026"


def chat() -> Image.Image:
    phone = Phone(clock="18:30", paper="#ededed")
    phone.title("程晓")
    phone.line("今天 18:02", size=34, colour=GREY, centred=True)
    phone.bubble("周六晚上一起吃饭吗？想试试梧桐里那家云南菜", mine=False, fill="white")
    phone.bubble("好啊，几点？", mine=True, fill="#95ec69")
    phone.bubble("订了 19:00 的四人桌，叫“石榴小院”，在梧桐里 27 号", mine=False, fill="white")
    phone.bubble("我带一瓶梅子酒，阿远也来", mine=True, fill="#95ec69")
    phone.bubble("押金 100 我先付了，回头 AA", mine=False, fill="white")
    phone.line("18:28", size=34, colour=GREY, centred=True)
    phone.bubble("收到，地铁 4 号线到梧桐里站，从 2 口出来", mine=True, fill="#95ec69")
    return phone.image


def bill() -> Image.Image:
    phone = Phone(clock="12:40", paper="#f5f5f5")
    phone.title("账单详情")
    phone.line("小满咖啡烘焙", centred=True)
    phone.line("-46.50", size=84, bold=True, centred=True)
    phone.line("交易成功", colour=GREY, centred=True)
    phone.rule()
    phone.row("支付时间", "2026-11-27 12:39:26")
    phone.row("付款方式", "余额宝")
    phone.row("商品说明", "手冲咖啡豆 200g")
    phone.row("收款方全称", "杭州小满食品有限公司")
    phone.row("订单号", "2026112722001406670012")
    phone.row("商家订单号", "XM20261127-0931")
    phone.rule()
    phone.row("账单分类", "餐饮美食")
    phone.row("计入收支", "支出")
    phone.rule()
    phone.columns(["联系商家", "申请电子回单", "对此订单有疑问"], colour=BLUE, size=40)
    return phone.image


def train() -> Image.Image:
    phone = Phone(clock="20:33", paper="#f2f4f7", bar="#3b7de0")
    phone.title("订单详情", colour="white")
    phone.y = 260
    phone.row("订单号：E880217356", "已支付", colour=GREEN)
    phone.columns(["08:15", "历时3小时28分", "11:43"], size=54, bold=True)
    phone.columns(["南京南", "G1927", "武汉"])
    phone.line("发车时间：2026年12月12日 星期六")
    phone.rule()
    phone.row("周楠", "二等座 09车05A号")
    phone.row("二代身份证", "成人票 ¥232.5")
    phone.rule()
    phone.columns(["退票", "改签", "变更到站"], colour=BLUE)
    phone.line("温馨提示", bold=True)
    phone.paragraph("1. 检票口：A12，开车前 5 分钟停止检票。", size=38, colour=GREY)
    phone.paragraph("2. 请持购票时所用证件原件进站乘车。", size=38, colour=GREY)
    return phone.image


def flight() -> Image.Image:
    phone = Phone(clock="21:06", paper="#eef3fb")
    phone.title("行程详情", action="分享")
    phone.row("山岚航空 SL3518", "计划起飞", colour=BLUE)
    phone.line("12月20日 周日", colour=GREY)
    phone.columns(["13:20", "2小时50分", "16:10"], size=54, bold=True)
    phone.columns(["杭州萧山 T3", "昆明长水 T1"])
    phone.rule()
    phone.columns(["值机柜台", "登机口", "座位"], colour=GREY, size=38)
    phone.columns(["F01-F09", "待定", "14C"], bold=True)
    phone.rule()
    phone.row("乘机人", "ZHOU/NAN")
    phone.row("票号", "876-5520193847")
    phone.row("舱位", "经济舱 Y")
    phone.row("免费托运行李", "20kg")
    phone.rule()
    phone.columns(["在线选座", "延误证明", "添加到日历"], colour=BLUE)
    return phone.image


def parcels(clock: str) -> Image.Image:
    phone = Phone(clock=clock, paper="#f5f6f8")
    phone.title("取件", action="扫码")
    phone.line("待取件 2", bold=True)
    for code, carrier, what in (
        ("12-4-6031", "圆通速递 YT8805512260319", "陶瓷花盆 两只装 · 今天 08:40 到站"),
        ("5-2-1187", "韵达快递 462200571187", "厨房滤网 10片 · 昨天 16:22 到站"),
    ):
        phone.rule()
        phone.row("梧桐里菜鸟驿站", "出示身份码", colour=BLUE)
        phone.line(f"取件码 {code}", size=64, bold=True, colour=ORANGE)
        phone.line(carrier, size=40)
        phone.line(what, size=38, colour=GREY)
    phone.rule()
    phone.row("营业时间", "09:00-21:00")
    phone.row("地址", "梧桐里小区 东门 3号铺")
    phone.tabs(["首页", "取件", "寄件", "我的"])
    return phone.image


def sms() -> Image.Image:
    phone = Phone(clock="08:11")
    phone.title("1068 2200 917")
    phone.line("11月28日 周六 15:20", size=34, colour=GREY, centred=True)
    phone.bubble("【青岚图书馆】您预约的《山间来信》已到馆，请于12月5日前到三楼服务台领取，逾期自动取消。", mine=False, fill="#f0f0f2")
    phone.line("今天 08:10", size=34, colour=GREY, centred=True)
    phone.bubble("【松果邮箱】验证码 705318，您正在修改登录密码，10分钟内有效，请勿转发。", mine=False, fill="#f0f0f2")
    phone.line("复制验证码", colour=BLUE, centred=True)
    phone.y = HEIGHT - 180
    phone.line("短信/彩信", colour=GREY)
    return phone.image


def takeaway() -> Image.Image:
    phone = Phone(clock="19:05", paper="#fafafa", bar="#ffc300")
    phone.y = 260
    phone.line("订单已送达", size=60, bold=True)
    phone.line("感谢您对美团的信任，期待再次光临", colour=GREY, size=40)
    phone.columns(["再来一单", "申请售后", "评价得美团币"], size=40)
    phone.rule()
    phone.line("巷口牛肉面（梧桐里店）", bold=True)
    phone.row("红烧牛肉面 大碗", "¥26")
    phone.row("卤蛋 x2", "¥5")
    phone.row("凉拌木耳", "¥12")
    phone.row("打包费", "¥1.5")
    phone.row("配送费", "¥4")
    phone.row("商家满减", "-¥8", colour=RED)
    phone.row("合计", "¥40.5")
    phone.rule()
    phone.row("送达时间", "18:52")
    phone.row("配送地址", "梧桐里小区 9幢 1103室")
    phone.row("骑手", "小孟师傅")
    phone.row("订单号码", "7731 0924 1852 0046")
    return phone.image


def meeting() -> Image.Image:
    phone = Phone(clock="10:12")
    phone.title("会议详情", action="编辑")
    phone.line("冬季展览布展讨论", size=60, bold=True)
    phone.columns(["15:00", "1小时", "16:00"], size=52)
    phone.columns(["12月3日 周四", "12月3日 周四"], size=38, colour=GREY)
    phone.rule()
    phone.row("会议号", "602 715 398")
    phone.row("会议密码", "8814")
    phone.row("发起人", "何嘉树")
    phone.row("参会人", "周楠、程晓、林远 等6人")
    phone.row("会议室", "2F 红杉")
    phone.rule()
    phone.line("会议议程", bold=True)
    phone.paragraph("1. 展厅动线与灯光预算")
    phone.paragraph("2. 志愿者排班，确认 12 月 10 日彩排")
    phone.button("进入会议", fill=BLUE)
    return phone.image


def hospital() -> Image.Image:
    phone = Phone(clock="08:30", paper="#f4f8f7", bar="#12a594")
    phone.title("预约详情", colour="white")
    phone.y = 260
    phone.line("预约成功", size=60, bold=True, colour="#12a594")
    phone.line("请携带身份证，提前 20 分钟到自助机签到", size=38, colour=GREY)
    phone.rule()
    phone.line("青岚市第二人民医院", bold=True)
    phone.row("科室", "口腔科门诊")
    phone.row("医生", "罗书宁 主治医师")
    phone.row("就诊人", "周楠")
    phone.row("就诊日期", "2026-12-09 周三 下午")
    phone.row("时段", "14:00-14:30")
    phone.row("就诊序号", "8号")
    phone.row("地点", "门诊楼 4层 B区 2诊室")
    phone.row("挂号费", "¥18.00")
    phone.row("预约单号", "QL20261209-0087")
    phone.rule()
    phone.columns(["取消预约", "院内导航"], colour=BLUE)
    return phone.image


def web_page() -> Image.Image:
    phone = Phone(clock="21:40")
    phone.line("pinewood-bikes.example/warranty", size=38, colour=GREY)
    phone.line("Frame warranty", size=76, bold=True)
    phone.line("Last updated: November 2, 2026", size=36, colour=GREY)
    phone.paragraph("Every Pinewood frame is covered for 10 years from the day of purchase. Forks and racks are covered for 3 years.")
    phone.paragraph("Paint, worn bearings and damage after a crash are not part of the warranty, but repairs start at USD 35.00.")
    phone.line("How to claim", size=54, bold=True)
    phone.paragraph("1. Find the serial number under the bottom bracket.")
    phone.paragraph("2. Write to care@pinewood-bikes.example with two photos and your receipt.")
    phone.paragraph("3. We answer within three working days and send a prepaid label, code PW-4471.")
    return phone.image


def terminal() -> Image.Image:
    phone = Phone(clock="23:30", paper="#101418", ink="#d7e0d8")
    for words in (
        "~/weather $ python collect.py --days 7",
        "fetching 7 files ...",
        "[3/7] station_12.csv ok 0.42s",
        "[4/7] station_15.csv ok 0.39s",
        "Traceback (most recent call last):",
        '  File "/home/u0/weather/collect.py", line 41, in main',
        "    rows = parse(path)",
        '  File "/home/u0/weather/parse.py", line 19, in parse',
        '    raise KeyError("humidity")',
        "KeyError: 'humidity'",
        "~/weather $ head -1 station_19.csv",
        "time,temp,wind,pressure",
        "~/weather $ git commit -am 'skip files without humidity'",
        "[main 4c91e0b] skip files without humidity",
        "~/weather $",
    ):
        phone.line(words, size=36, gap=10)
    phone.tabs(["ESC", "TAB", "CTRL", "ALT", "HOME", "END"])
    return phone.image


def news() -> Image.Image:
    phone = Phone(clock="12:05")
    phone.paragraph("老城有轨电车明年春天恢复运营，全程票价三元", size=64)
    phone.row("青岚日报", "+关注", colour=RED)
    phone.line("2026-11-20 09:10 · 本地", size=36, colour=GREY)
    phone.paragraph(
        "本报讯（记者 孟一舟）停运十一年的老城有轨电车一号线将于明年 3 月恢复运营。线路全长 7.2 公里，设 12 个车站，连接火车站与梧桐里。"
    )
    phone.paragraph("据介绍，首批 8 辆复古车厢已完成修复，每辆可载客 90 人，高峰时段每 8 分钟一班。")
    phone.paragraph("市民可在恢复运营后的第一周凭预约免费试乘，预约通道将于 12 月 15 日开放。")
    phone.y = HEIGHT - 180
    phone.columns(["写评论…", "86", "512"], colour=GREY)
    return phone.image


def wallpaper() -> Image.Image:
    """Hills at dusk, no text."""
    image = Image.new("RGB", (WIDTH, HEIGHT))
    draw = ImageDraw.Draw(image)
    for y in range(HEIGHT):
        share = y / HEIGHT
        draw.line((0, y, WIDTH, y), fill=(round(60 + 180 * share), round(80 + 90 * share), round(140 - 20 * share)))
    draw.ellipse((620, 700, 860, 940), fill="#ffd9a0")
    for base, colour in ((1500, "#5b5f86"), (1750, "#3f4468"), (2000, "#262a45")):
        draw.polygon(
            [(0, HEIGHT), (0, base), (300, base - 180), (620, base + 60), (860, base - 120), (WIDTH, base), (WIDTH, HEIGHT)], fill=colour
        )
    return image


SCREENS: dict[str, Callable[[], Image.Image]] = {
    "Screenshot_20261128-183012_WeChat.png": chat,
    "Screenshot_2026-11-27-12-40-05-318_com.eg.android.AlipayGphone.png": bill,
    "Screenshot_20261126_203344_com.MobileTicket.png": train,
    "IMG_0731.jpg": flight,
    "Screenshot_20261129-091502_Cainiao.png": lambda: parcels("09:15"),
    "Screenshot_20261129-091630_Cainiao.png": lambda: parcels("09:16"),
    "Screenshot_20261130_081122_Messages.png": sms,
    "Screenshot_2026-11-24-19-05-41-620_com.sankuai.meituan.png": takeaway,
    "截屏2026-11-25 10.12.33.png": meeting,
    "wx_20261123083015.jpg": hospital,
    "Screenshot_20261122-214055_Chrome.png": web_page,
    "Screenshot_20261121-233017_Termux.png": terminal,
    "mmexport1795147512345.jpg": news,
    "IMG_20261119_063000.jpg": wallpaper,
}
TAKEN = {"IMG_0731.jpg": ("2026:11:18 21:06:40", "+08:00")}
_EXIF_FOLDER, _DATE_TIME_ORIGINAL, _OFFSET_ORIGINAL = 0x8769, 0x9003, 0x9011


def save(image: Image.Image, path: Path) -> None:
    if path.suffix == ".png":
        image.quantize(32, dither=Image.Dither.NONE).save(path, optimize=True)
        return
    exif = Image.Exif()
    if path.name in TAKEN:
        taken, offset = TAKEN[path.name]
        exif.get_ifd(_EXIF_FOLDER).update({_DATE_TIME_ORIGINAL: taken, _OFFSET_ORIGINAL: offset})
    image.save(path, quality=80, optimize=True, exif=exif)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in SCREENS.items():
        save(draw(), FOLDER / name)
    print(f"{len(SCREENS)} pictures, {sum(path.stat().st_size for path in FOLDER.iterdir()) // 1024} KB in {FOLDER}")


if __name__ == "__main__":
    main()
