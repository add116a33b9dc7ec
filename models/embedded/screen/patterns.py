"""How the things a screenshot names are written: patterns by entity type, and the words beside which some of them count."""

import re

CJK = r"\u3400-\u9fff"
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方"
    "白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤葛温"
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_CURRENCY = r"(?:USD|RMB|CNY|EUR|GBP|HKD|JPY|TWD)"


def _any(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(patterns), flags)


NUMBER = re.compile(_NUMBER)
DATE = _any(
    r"(?:19|20)\d{2} ?年 ?\d{1,2} ?月(?: ?\d{1,2} ?[日号])?",
    r"\d{1,2} ?月 ?\d{1,2} ?[日号]",
    r"(?<!\d)(?:19|20)\d{2}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])(?!\d)",
    r"(?<![\d./-])(?:0[1-9]|1[0-2])[-/](?:0[1-9]|[12]\d|3[01])(?![\d./-])",
    rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b",
    rf"\b\d{{1,2}} {_MONTH}(?: \d{{4}})?\b",
)
_CLOCK = r"(?:[01]?\d|2[0-4]):[0-5]\d"
TIME = _any(
    rf"(?<![\d:.+]){_CLOCK}(?::[0-5]\d)?(?: ?[-–~至] ?{_CLOCK})?(?: ?[AaPp]\.?[Mm]\.?)?(?![\d:])",
    r"(?:凌晨|早上|上午|中午|下午|傍晚|晚上) ?[\d一二三四五六七八九十两]{1,3} ?[点时](?:半|一刻|\d{1,2}分?)?",
)
AMOUNT = _any(
    rf"[-+]? ?(?:NT\$|HK\$|US\$|[¥￥$€£]) ?-?{_NUMBER}(?: ?[万亿])?",
    rf"\b{_CURRENCY} ?{_NUMBER}",
    rf"{_NUMBER} ?{_CURRENCY}\b",
    rf"{_NUMBER} ?[万亿]?(?:元|块钱|美元|港元|欧元|日元|英镑)",
    r"(?<![\w.-])[-+]\d[\d,]*\.\d{2}(?![%\w])",
)
TRAIN = re.compile(r"(?<![A-Za-z0-9-])[GDCKTZSY]\d{1,4}(?![A-Za-z0-9-])")
FLIGHT = re.compile(r"(?<![A-Za-z0-9-])(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{3,4}(?![A-Za-z0-9-])")
PHONE = _any(
    r"(?<![\d-])(?:\+?86[- ]?)?1\d{2}(?:[- ]?\d{4}[- ]?\d{4}|[- ]?\*{3,4}[- ]?\d{4})(?![\d-])",
    r"(?<![\d-])0\d{2,3}-\d{3,4}-?\d{4}(?![\d-])",
    r"(?<![\d-])[48]00-?\d{3,4}-?\d{3,4}(?![\d-])",
    r"(?<=[电话拨致电服热线]) ?(?:95|10|96|12)\d{3}(?!\d)",
)
_DOMAINS = "com|cn|net|org|io|dev|app|gov|edu|me|co|tv|cc|info|xyz|top|example|uk|jp|de|tw|hk"
LINK = _any(
    r"https?://[^\s，。；、）)】」》<>\"']+",
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    rf"(?<![\w@.-])(?:[a-z0-9-]+\.)+(?:{_DOMAINS})(?:/[^\s，。；、）)】]*)?(?![\w-])",
    flags=re.I | re.A,
)
STOCK = _any(
    r"(?<![\w.])(?:SH|SZ|BJ|HK)\.?\d{5,6}(?![\w.])",
    r"(?<![\w.])(?:\d{6}\.(?:SH|SZ|BJ|SS)|\d{4,5}\.HK|[03-9]\d{5})(?![\w.])",
    r"\$[A-Z]{1,5}\b",
    r"\b(?:NASDAQ|NYSE): ?[A-Z]{1,5}\b",
)
_CODE_WORD = r"(?:验证码|校验码|动态码|动态密码|取件码|取货码|取餐码|取票码|提取码|券码|兑换码|预约码|取餐号|口令|凭)"
CODE = _any(
    _CODE_WORD + r"[\s:：为是“「【\[]*([A-Za-z0-9]{1,4}(?:-[A-Za-z0-9]{1,6}){1,3}|[A-Za-z]?\d{2,8}|[A-Z0-9]{4,12})",
    r"(?<![A-Za-z0-9])(\d{4,8}) ?[为是（(]? ?(?:您的|你的)?\S{0,8}验证码",
    r"\b(?:code|passcode|OTP|PIN)\b(?:\s+is|\s+for\s+\w+\s+is)?[\s:：]*([A-Z0-9]{1,6}-[A-Z0-9]{2,6}|(?=[A-Z0-9-]*\d)[A-Z0-9]{4,10})",
    r"\b(\d{4,8}) is your\b",
    flags=re.I,
)
PARCEL_CODE = re.compile(r"(?<![\w-])(?:[A-Z]?\d{1,2}-\d{1,2}-\d{3,5}|[A-Z]\d{1,2}-\d{3,5}|\d{1,3}-\d{4,5})(?![\w-])")
TRACKING = re.compile(
    r"(?:中通|圆通|申通|韵达|顺丰|极兔|京东|邮政|EMS|德邦|百世|天天|丹鸟|菜鸟)(?:速递|快递|速运|物流|包裹)? *[:：]? *([A-Z]{0,3}\d{9,18})"
)
ORDER = re.compile(
    r"(?:订单|单据|交易|流水|运单|快递|预约|确认|票)(?:编号|单号|号码|号)[ \t:：]*([A-Za-z]{0,4}[-\d][\dA-Za-z -]{4,28}[\dA-Za-z])"
)
_COMPANY_KIND = (
    "有限责任公司|股份有限公司|有限公司|集团|旗舰店|专卖店|专营店|事务所|工作室|研究院|研究所|出版社|医院|大学|银行|航空|物业|超市"
)
COMPANY = re.compile(rf"[{CJK}A-Za-z0-9·&（）()]{{2,24}}?(?:{_COMPANY_KIND})(?![{CJK}]{{1,2}}[码卡])")
SIGNATURE = re.compile(r"【([^】\d]{2,16})】")
TITLE = re.compile(r"《[^》]{2,30}》")
PERSON = _any(
    rf"(?<![{CJK}])[小老阿]?[{_SURNAMES}][{CJK}]{{0,2}}?(?:先生|女士|小姐|老师|医生|师傅|经理|主任|教授|同学|总监)",
    r"(?<![A-Z/])[A-Z]{2,15}/[A-Z]{2,20}(?![A-Z/])",  # as on a flight ticket
)
WITH_ROLE = re.compile(rf"(?:记者|作者|文|编辑|主讲|讲师|医生|联系人|摄影|嘉宾)(?:[\s:：/／]+|(?<=[（(]记者))([{CJK}]{{2,4}})(?![{CJK}])")
NAMED_BESIDE = re.compile(rf"(?<![{CJK}])([{_SURNAMES}][{CJK}]{{1,2}})[ \t]+(?=1\d{{2}}[\d* -]{{8}}|[一二商硬软经特]等?[座卧铺舱])")
PERSON_VALUE = re.compile(rf"[{CJK}·]{{2,12}}|[A-Z][A-Za-z]+(?:[ /][A-Za-z]+){{0,3}}")
CHAT_PARTNER = re.compile(rf"[{CJK}·]{{2,6}}|[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]*)?")
RANK = re.compile(rf"(?<=[{CJK}]{{2}}) ?(?:副?主任|主治|住院|副?教授|医师|专家).*$")
_PLACE_KIND = "机场|火车站|高铁站|地铁站|客运站|码头|广场|体育馆|图书馆|博物馆|驿站|大厦|步道|公园"
PLACE = _any(
    rf"[{CJK}]{{2,10}}(?:省|自治区)[{CJK}\d]{{2,20}}(?:市|区|县|路|街|镇|号|室)[\d{CJK}-]{{0,16}}",
    rf"[{CJK}]{{2,8}}市[{CJK}]{{2,8}}[区县][{CJK}\d]{{2,24}}",
    rf"[{CJK}]{{2,8}}(?:小区|花园|家园|公寓)(?:[{CJK}]{{0,4}} ?\d{{1,3}} ?[幢栋号]楼?)?(?: ?\d{{1,5}} ?室)?",
    rf"[{CJK}]{{2,10}}(?:{_PLACE_KIND})",
    rf"[{CJK}]{{2,6}} ?T[1-4](?!\d)",
)
LEADING_VERB = re.compile(rf"^.*?(?:连接|到达|前往|位于|来到|抵达|从|到(?!达)|在)(?=[{CJK}]{{3}})")
CLAUSE = re.compile(r"[的已您请了把被将达]")  # in no name of a place or company, but in sentences around one
NOT_A_VALUE = re.compile(r"待定|未知|无|详情|查看|修改|选择|全部|添加|信息")

BESIDE = (
    ("车次", TRAIN, re.compile(r"二等座|一等座|商务座|检票|车次|列车|高铁|动车|火车|硬[卧座]|软卧|12306|铁路|候补|次车|改签")),
    ("航班", FLIGHT, re.compile(r"航班|航空|机场|登机|起飞|值机|舱|flight|boarding|terminal|airline", re.I)),
    ("取件码/验证码", PARCEL_CODE, re.compile(r"取件|驿站|快递|包裹|丰巢|菜鸟|取货")),
)
"""Type, pattern, and the context without which a match means nothing."""

STOCK_CONTEXT = re.compile(r"分时|日K|五档|盘口|换手|市盈|自选|涨跌|成交额|总市值|股票|今开|NASDAQ|NYSE|证券|持仓")

LABELS = (
    ("取件码/验证码", re.compile(r"取件码|取货码|提货码|取餐码|取票码|验证码|校验码|动态码|券码|核销码|提取码|兑换码|预约码")),
    (
        "订单号",
        re.compile(
            r"(订单|单据|交易|流水|运单|快递|物流|预约|确认|商户|保单|凭证|发票|票|转账|受理|办件|工)(编)?(单)?(号码|号|编号)$|^单号$"
        ),
    ),
    (
        "人名",
        re.compile(
            r"姓名|乘车人|乘机人|旅客|收货人|收件人|寄件人|联系人|医生|就诊人|患者|发起人|主持人|参会人|组织者|骑手|司机|配送员|快递员|作者|持卡人|入住人"
            r"|预订人|预约人|申请人|考生|教师|老师|讲师|主讲|付款人|收款人|转账人|负责人|观演人|户名|联络人|经办人|审批人|记者|编辑"
        ),
    ),
    (
        "公司",
        re.compile(
            r"商户|商家|收单机构|收款方|付款方(?!式)|店铺|门店|公司|机构|单位|开户行|发卡行|承运|航空公司|医院|银行|酒店|学校|卖家|品牌|主办"
        ),
    ),
    (
        "地点",
        re.compile(
            r"地址|地点|位置|会议室|出发地|目的地|起点|终点|上车|下车|考场|教室|诊室|场馆|影院|影厅|出发站|到达站|站点|取票|登机口|航站楼|车站"
        ),
    ),
    ("金额", re.compile(r"金额|合计|实付|应付|总价|总计|票价|费$|费用|余额|应还|价格|单价|租金|工资|押金")),
    ("电话", re.compile(r"电话|手机|联系方式|热线|客服")),
    (
        "项目",
        re.compile(
            r"主题|项目|课程|活动|商品说明|商品名称|商品$|标题|事由|影片|演出|科目|职位|岗位|会议名称|名称$|用途|科室|日程|产品|套餐|品名"
        ),
    ),
    ("股票", re.compile(r"股票|证券名称|证券代码|股票代码|基金")),
)
"""Type, and the labels whose values are of it; the first that fits counts."""
