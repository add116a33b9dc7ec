"""Words that ask, link or address, and so say nothing of the matter that is looked for."""

import re

_ZH = """
什么时候 啥时候 什么 啥 哪些 哪里 哪儿 哪个 哪一 哪年 哪天 哪位 哪种 哪 怎么样 怎样 怎么 如何 为何 为什么
谁 何时 何地 何人 何 是否 是不是 有没有 吗 呢 吧 啊 呀 来着 的 了 着 是 在 有 被 于 由 与 及 和 跟 或 个 我们
你们 他们 我的 我 你 您 他 她 它 这个 那个 这些 那些 这 那 其中 其 该 请问 请 麻烦 帮我 帮忙 给我 告诉我 找一下 查一下 看一下
找找 查查 看看 找出 查找 搜索 想知道 一下 关于 有关 相关 里面 的话 所有 全部 一共 总共 分别 现在 截图 截屏 截的图 图片 照片 屏幕截图
都 还 就 也 把 将 会 能 可以 以及 并且 因为 所以 如果 但是 或者 对于 根据 属于 位于 称为 叫做 叫 之一 之
"""
_EN = """
a an the and or of to in on at for from by with about as into is are was were be been am do does did done have has had having i me my
mine we us our you your he she it its they them their this that these those there here what which who whom whose when where why how much
many any some can could will would shall should may might must please show find tell give get list look search see all screenshot
screenshots picture pictures photo photos image images anything something s t d ll re ve m not no if so than then
"""
_MEASURES = "钱个张次杯瓶件盒份条笔单天块元本部页家人位遍趟首只斤月日时年点号分秒岁顿集章封通节场班层排"
_ZH_WORD = re.compile(rf"(?:几|多少)[{_MEASURES}]?|" + "|".join(sorted(map(re.escape, _ZH.split()), key=len, reverse=True)))
_EN_WORDS = frozenset(_EN.split())


def is_stop_word(word: str) -> bool:
    """Whether a lower-case Latin run is an English stop word."""
    return word in _EN_WORDS


def stop_mask(run: str) -> list[bool]:
    """For each character of a CJK run: whether it belongs to a stop word."""
    mask = [False] * len(run)
    for match in _ZH_WORD.finditer(run):
        mask[match.start() : match.end()] = [True] * len(match[0])
    return mask
