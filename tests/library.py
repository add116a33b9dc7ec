"""A library without pictures: analysed screenshots written as the analysis writes them."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from graph.services import Services
from memory.photos import AnalysisResult, NewPhoto


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    text: str
    app: str
    category: str
    taken_at: str
    summary: str = ""
    filename: str = ""
    owner: str = "local"
    device_id: str = "phone"
    dhash: str | None = None


async def add(services: Services, shot: Shot) -> int:
    """Store one analysed screenshot; returns its photo id."""
    sha256 = hashlib.sha256(f"{shot.owner}{shot.taken_at}{shot.text}".encode()).hexdigest()
    added = await services.photos.add(
        NewPhoto(
            owner=shot.owner,
            sha256=sha256,
            filename=shot.filename or f"Screenshot_{sha256[:8]}.png",
            mime_type="image/png",
            byte_size=1,
            width=1080,
            height=2340,
            blob_key=f"none/{sha256}",
            working_key=None,
            thumbnail_key=None,
            captured_at=datetime.fromisoformat(shot.taken_at),
            time_source="filename",
            device_id=shot.device_id,
            dhash=shot.dhash,
        )
    )
    result = AnalysisResult(
        summary=shot.summary or shot.text.splitlines()[0],
        app_name=shot.app,
        content_category=shot.category,
        intent="reference",
        entities=[],
        ocr_text=shot.text,
        confidence=0.9,
        engine="test",
    )
    await services.photos.save_analysis(added.photo_id, result)
    return added.photo_id


PARCEL = Shot(
    text="菜鸟驿站\n待取件 1\n取件码 5-2-8043\n圆通快递 YT8800123\n陶瓷花盆 2件",
    app="菜鸟",
    category="shopping",
    taken_at="2026-11-29T10:00:00+08:00",
)
TRAIN = Shot(
    text="订单详情\n南京南 G7123 上海虹桥\n08:12 发车\n2026年12月6日 星期日\n二等座 03车08A号\n¥139.5",
    app="铁路12306",
    category="other",
    taken_at="2026-11-28T09:30:00+08:00",
)
LUNCH = Shot(
    text="订单已送达\n李记牛肉面\n招牌牛肉面 x1 ¥26\n合计 ¥31.5\n送达时间 12:20",
    app="美团",
    category="shopping",
    taken_at="2026-11-30T12:30:00+08:00",
)
