"""What can be said without looking anything up: greetings, thanks, what Evatar is, sums; and what cannot be done without a model."""

import ast
import operator
import re
from collections.abc import Callable

from memory.language import Language

_GREETING = re.compile(
    r"^(?:你好|您好|嗨|哈喽|哈啰|在吗|在么|早上好|早安|早|下午好|晚上好|晚安|hi|hello|hey|good (?:morning|afternoon|evening|night)|"
    r"yo)(?: there)?[\s,，!！。.~～?？呀啊吗]*(?:evatar)?[\s!！。.~～]*$",
    re.I,
)
_THANKS = re.compile(
    r"^(?:好的?|嗯+|ok(?:ay)?|收到|明白了?|知道了|行)?[\s,，]*(?:谢谢|多谢|感谢|谢了|辛苦了|thanks?(?: you)?|thank you|thx|"
    r"cheers)\S{0,4}(?: (?:so|very) much| a lot)?[\s!！。.~～]*$",
    re.I,
)
_FINE = re.compile(r"^(?:好的?|嗯+|ok(?:ay)?|收到|明白了?|知道了|行|哈+|不错|太好了|great|cool|nice|got it|sure)[\s!！。.~～]*$", re.I)
_BYE = re.compile(r"^(?:再见|拜拜|88|回头见|bye(?: ?bye)?|goodbye|see you)[\s!！。.~～]*$", re.I)
_ABOUT = re.compile(
    r"(?:你|您)(?:是谁|叫什么|能做什么|会什么|会做什么|可以做什么|有什么(?:用|功能)|能干(?:什么|嘛|啥)|怎么用)|^(?:帮助|help|使用说明)[?？]?$|"
    r"what can you do|who are you|what are you|how do (?:i|you) (?:use|work)|your name",
    re.I,
)
_HOW_ARE = re.compile(r"^(?:你(?:还)?好(?:不好|吗)|最近怎么样|how are you|how's it going|what's up)[\s?？!！]*$", re.I)
_CREATIVE = re.compile(
    r"^(?:请|帮我|给我|麻烦)?(?:你)?(?:写|作|编|创作|讲)(?:一|个|首|篇|段|封|份|点|些|几)?\S{0,6}"
    r"(?:诗|故事|笑话|作文|文章|小说|文案|歌词|邮件|信|"
    r"情书|剧本|代码|程序|演讲稿|祝福语)"
    r"|^(?:please |can you |could you )?(?:write|compose|tell)(?: me| us)? (?:an? |"
    r"some )?(?:\w+ )?(?:poem|story|joke|essay|article|song|letter|email|code|script|speech)"
    r"|^(?:请|帮我)?(?:翻译|润色|改写)(?!.*截图)|^(?:please )?(?:translate|rewrite|proofread)\b(?!.*screenshot)",
    re.I,
)
_SUM = re.compile(
    r"^(?:请问|计算|算一下|算算|what(?:'s| is)|calculate|compute)?\s*([\d\s.+\-*/×÷()（）xX]+?)\s*"
    r"(?:=|等于(?:几|多少)?|是(?:几|多少)|equals?)?"
    r"\s*[?？=]*\s*$",
    re.I,
)
_ASKS_SUM = re.compile(r"=|等于|是几|是多少|计算|算一|算算|what|calc|comput|equal|[?？]$", re.I)
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}

_ABILITIES: dict[Language, str] = {
    "zh": "我是 Evatar，你的手机截图助手。目前没有配置聊天模型，我用内置规则工作，可以：\n\n"
    "- 按内容找截图，例如“我的取件码是多少”\n- 按时间列出截图，例如“昨天截了哪些图”“最近三张截图”\n"
    "- 统计数量和金额，例如“这个月外卖一共花了多少钱”\n- 回答都会标注来源截图\n\n配置一个聊天模型后，我还能闲聊、写作和总结。",
    "en": "I am Evatar, an assistant for your phone screenshots. No chat model is configured, so I work by built-in rules. I can:\n\n"
    "- find screenshots by what they say, e.g. “what is my pickup code”\n- list them by time, e.g. “what did I screenshot yesterday”\n"
    "- count and add up, e.g. “how much did I spend on takeout in all”\n- every answer cites its screenshots\n\n"
    "With a chat model configured I can also chat, write and summarise.",
}
_SAID: dict[str, dict[Language, str]] = {
    "greeting": {
        "zh": "你好！想在你的截图里找什么？比如“我的取件码是多少”或“昨天截了哪些图”。",
        "en": "Hello! What shall I look for in your screenshots? For example “what is my pickup code?”",
    },
    "how_are": {"zh": "我很好，谢谢！想在你的截图里找什么？", "en": "I'm fine, thank you! What shall I look for in your screenshots?"},
    "thanks": {"zh": "不客气！还想找什么，随时问我。", "en": "You're welcome! Just ask when you need anything else."},
    "fine": {"zh": "好的。还想找什么，随时问我。", "en": "All right. Just ask when you need anything else."},
    "bye": {"zh": "再见！", "en": "Goodbye!"},
    "creative": {
        "zh": "抱歉，目前没有配置聊天模型，我没法写作、翻译或讲故事。我可以帮你查找、列出和统计手机截图里的内容。",
        "en": "Sorry, no chat model is configured, so I cannot write, translate or tell stories. "
        "I can find, list and count what is in your phone screenshots.",
    },
}
_RULES = (("how_are", _HOW_ARE), ("greeting", _GREETING), ("thanks", _THANKS), ("fine", _FINE), ("bye", _BYE), ("creative", _CREATIVE))

_ATTACHMENT_SHOWN = 1200
"""Characters of an attachment's text in an answer."""


def small_talk(question: str, language: Language) -> str | None:
    """The reply to a message that needs no knowledge, or None when it is a question for the tools."""
    text = question.strip()
    if _ABOUT.search(text) and len(text) <= 40:
        return _ABILITIES[language]
    for name, pattern in _RULES:
        if pattern.search(text):
            return _SAID[name][language]
    return _calculated(text)


def _calculated(text: str) -> str | None:
    found = _SUM.match(text)
    if not found or len(text) > 60 or not _ASKS_SUM.search(text) or not re.search(r"\d\s*[+\-*/×÷xX]\s*[(（\d]", found[1]):
        return None
    written = found[1].strip()
    formula = re.sub(r"[xX×]", "*", written).replace("÷", "/").replace("（", "(").replace("）", ")")
    try:
        value = _evaluate(ast.parse(formula, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return f"{written} = {value:.10g}"


def _evaluate(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand)
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _OPERATORS:
            return _OPERATORS[type(kind)](_evaluate(left), _evaluate(right))
        case _:
            raise ValueError("not a sum")


def about_attachments(attached: str, language: Language) -> str:
    """What can be said of files without a model: that they came, and how their text begins."""
    shown = attached[:_ATTACHMENT_SHOWN] + ("…" if len(attached) > _ATTACHMENT_SHOWN else "")
    note = "No chat model is configured; I can only read out the text:" if language == "en" else "没有配置聊天模型，我只能读出附件的文字："
    return f"{note}\n\n```\n{shown}\n```"
