"""What of an analysed photo is searchable."""

import json

from memory.search.types import IndexRow
from memory.tables import Analysis, Photo

CATEGORY_LABELS = {
    "chat": "聊天 对话 消息 chat",
    "webpage": "网页 网站 文章 webpage",
    "notification": "通知 短信 notification",
    "social_media": "社交 社交媒体 动态 social media",
    "finance": "金融 财务 理财 账单 finance",
    "education": "教育 学习 课程 education",
    "shopping": "购物 网购 订单 shopping",
    "entertainment": "娱乐 影音 游戏 entertainment",
    "tool": "工具 tool",
    "other": "其他 other",
}
INTENT_LABELS = {
    "reminder": "提醒 待办 reminder",
    "research": "研究 调研 research",
    "reference": "参考 reference",
    "note": "笔记 记录 note",
    "ignore": "忽略 ignore",
}


def index_row(photo: Photo, analysis: Analysis) -> IndexRow:
    """The searchable text of a photo: labels in both languages, of the entities only the values."""
    return IndexRow(
        photo_id=photo.id,
        owner=photo.owner,
        summary=analysis.summary,
        app_name=analysis.app_name,
        labels=labels_of(analysis.content_category, analysis.intent),
        entities="\n".join(str(entity["value"]) for entity in json.loads(analysis.entities)),
        ocr_text=analysis.ocr_text,
        filename=photo.filename,
    )


def labels_of(category: str, intent: str) -> str:
    """The words a category and an intent are found under; an unknown value is its own."""
    return f"{CATEGORY_LABELS.get(category, category)}\n{INTENT_LABELS.get(intent, intent)}"
