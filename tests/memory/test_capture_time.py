"""Names as phones, computers and messengers give them; times of the place are Shanghai's unless a test says otherwise."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.capture_time import capture_time
from memory.exif import ExifTime, exif_time, read_exif_time
from memory.file_names import named_times
from tests.memory.pictures import encoded

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 12, 1, 9, 0, tzinfo=ZONE)
MTIME = datetime(2026, 11, 30, 8, 15, tzinfo=ZONE)
SCREENS = Path(__file__).parents[3] / "shared/eval/screens"


def by_name(name: str, mtime: datetime = MTIME) -> tuple[str, str]:
    found = capture_time(file_name=name, exif=None, mtime=mtime.timestamp(), zone=ZONE, now=NOW)
    return found.at.isoformat(sep=" ", timespec="seconds").removesuffix("+08:00"), found.source


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("Screenshot_20260314-091502_Weather.png", "2026-03-14 09:15:02"),
        ("Screenshot_20260314_091502_com.example.app.jpg", "2026-03-14 09:15:02"),
        ("Screenshot_20260314-091502.123.png", "2026-03-14 09:15:02"),
        ("Screenshot_20260314-091502~2.png", "2026-03-14 09:15:02"),
        ("Screenshot_2026-03-14-09-15-02-404_com.example.app.jpg", "2026-03-14 09:15:02"),
        ("Screenshot_2026-03-14-09-15-02-40_40deb401b9ffe8e1df2f1cc5ba480b12.jpg", "2026-03-14 09:15:02"),
        ("Screenshot_2026_0314_091502.png", "2026-03-14 09:15:02"),
        ("截屏2026-03-14 09.15.02.png", "2026-03-14 09:15:02"),
        ("截屏2026-03-14 下午9.15.02 2.png", "2026-03-14 21:15:02"),
        ("截图_20260314_091502.png", "2026-03-14 09:15:02"),
        ("屏幕截图 2026-03-14 091502.png", "2026-03-14 09:15:02"),
        ("屏幕快照 2026-03-14 上午12.15.02.png", "2026-03-14 00:15:02"),
        ("屏幕快照 2026-3-4 下午3.04.05.png", "2026-03-04 15:04:05"),
        ("Screen Shot 2026-01-05 at 3.04.05 PM.png", "2026-01-05 15:04:05"),
        ("Screenshot 2026-01-05 at 12.04.05\u202fAM (2).png", "2026-01-05 00:04:05"),
        ("Bildschirmfoto 2026-01-05 um 15.04.05.png", "2026-01-05 15:04:05"),
        ("스크린샷 2026-01-05 오후 3.04.05.png", "2026-01-05 15:04:05"),
        ("Screenshot 2026-01-05 150405.png", "2026-01-05 15:04:05"),
        ("Screenshot from 2026-01-05 15-04-05.png", "2026-01-05 15:04:05"),
        ("2026年1月5日 15时4分5秒.png", "2026-01-05 15:04:05"),
        ("2026年1月5日15点04分.png", "2026-01-05 15:04:00"),
        ("IMG_20260105_150405.jpg", "2026-01-05 15:04:05"),
        ("IMG20260105150405.jpg", "2026-01-05 15:04:05"),
        ("20260105_150405(0).jpg", "2026-01-05 15:04:05"),
        ("MVIMG_20260105_150405.jpg", "2026-01-05 15:04:05"),
        ("PXL_20260105_150405678.MP.jpg", "2026-01-05 23:04:05"),
        ("2026-01-05T15-04-05.123Z.png", "2026-01-05 23:04:05"),
        ("mmexport1767596645000.jpg", "2026-01-05 15:04:05"),
        ("mmexport0a1b2c3d4e5f60718293a4b5c6d7e8f9_1767596645000.jpg", "2026-01-05 15:04:05"),
        ("wx_camera_1767596645123.jpg", "2026-01-05 15:04:05"),
        ("微信图片_20260105150405.jpg", "2026-01-05 15:04:05"),
        ("微信图片_20260105150405_12_3.png", "2026-01-05 15:04:05"),
        ("微信图片_1767596645000.jpg", "2026-01-05 15:04:05"),
        ("wx_20260105150405.jpg", "2026-01-05 15:04:05"),
        ("QQ图片20260105150405.png", "2026-01-05 15:04:05"),
        ("QQ截图20260105150405.png", "2026-01-05 15:04:05"),
        ("微信截图_20260105150405.png", "2026-01-05 15:04:05"),
        ("企业微信截图_17675966451234.png", "2026-01-05 15:04:05"),
        ("Screenshot_1767596645000.png", "2026-01-05 15:04:05"),
        ("Screenshot_1767596645.png", "2026-01-05 15:04:05"),
        ("photo_2026-01-05_15-04-05.jpg", "2026-01-05 15:04:05"),
        ("signal-2026-01-05-15-04-05-123.jpg", "2026-01-05 15:04:05"),
        ("WhatsApp Image 2026-01-05 at 15.04.05 (1).jpeg", "2026-01-05 15:04:05"),
        ("Captura de pantalla 2026-01-05 a las 15.04.05.png", "2026-01-05 15:04:05"),
        ("Photo 2026-01-05 15 04 05.jpg", "2026-01-05 15:04:05"),
        ("vlcsnap-2026-01-05-15h04m05s678.png", "2026-01-05 15:04:05"),
        ("retouch_2026010515040567.jpg", "2026-01-05 15:04:05"),
        ("00000IMG_00000_BURST20260105150405678_COVER.jpg", "2026-01-05 15:04:05"),
        ("XHS_17675966450001040g0083abcdefg5o.jpg", "2026-01-05 15:04:05"),
        ("hdImg_d41d8cd98f00b204e9800998ecf8427e1767596645000.jpg", "2026-01-05 15:04:05"),
        ("Screenshot_20260105-150405_12306.png", "2026-01-05 15:04:05"),
        ("Snipaste_2026-01-05_15-04-05.png", "2026-01-05 15:04:05"),
        ("截屏2026-03-14 09.15.02", "2026-03-14 09:15:02"),
    ],
)
def test_names_that_tell_the_time(name: str, taken: str) -> None:
    assert by_name(name) == (taken, "filename")


@pytest.mark.parametrize(
    "name",
    [
        "IMG_0417.PNG",
        "Screenshot_20261399-203512.png",
        "Screenshot_20260231-093000.png",
        "Screenshot_20991231-203512.png",
        "Screenshot_19011231-203512.png",
        "order_20260125000000180651.png",
        "6902265360018.jpg",
        "13800138000.png",
        "9c1f6a42-07de-4b1c-8a35-202601051504.png",
        "d41d8cd98f0020260105150405998ecf.png",
        "wallpaper-1920x1080.png",
        "未命名.png",
        "",
    ],
)
def test_names_that_tell_nothing(name: str) -> None:
    assert by_name(name) == ("2026-11-30 08:15:00", "mtime")


def test_an_impossible_hour_leaves_the_day() -> None:
    assert by_name("IMG_20260105_250405.jpg") == ("2026-01-05 12:00:00", "filename")


def test_a_name_with_the_day_alone() -> None:
    assert by_name("IMG-20260105-WA0001.jpg") == ("2026-01-05 12:00:00", "filename")
    assert by_name("IMG-20261130-WA0001.jpg") == ("2026-11-30 08:15:00", "filename")


@given(
    st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2026, 11, 30)), st.sampled_from(["%Y%m%d-%H%M%S", "%Y-%m-%d %H.%M.%S"])
)
def test_any_time_is_read_as_written(at: datetime, form: str) -> None:
    assert next(named_times(f"Screenshot_{at.strftime(form)}_app.png")) == at.replace(microsecond=0)


@given(st.text())
def test_any_name_is_read(name: str) -> None:
    assert all(isinstance(found, date) for found in named_times(name))


EXIF = {0x9003: "2026:02:03 04:05:06", 0x9004: "2026:02:03 05:00:00", 0x0132: "2026:02:04 00:00:00"}


def test_the_original_time_with_its_offset_wins() -> None:
    found = capture_time(
        file_name="IMG_20260105_150405.jpg", exif=exif_time({**EXIF, 0x9011: "+09:00"}), mtime=MTIME.timestamp(), zone=ZONE, now=NOW
    )
    assert (found.at.isoformat(), found.source) == ("2026-02-03T04:05:06+09:00", "exif")


def test_exif_without_offset_is_of_the_zone() -> None:
    found = capture_time(file_name="a.jpg", exif=exif_time(EXIF), mtime=0, zone=ZoneInfo("America/New_York"), now=NOW)
    assert found.at.isoformat() == "2026-02-03T04:05:06-05:00"


def test_empty_and_impossible_exif_times_are_passed_over() -> None:
    assert exif_time({**EXIF, 0x9003: "0000:00:00 00:00:00"}) == ExifTime(datetime(2026, 2, 3, 5))
    assert exif_time({0x9003: "    :  :     :  :  ", 0x0132: b"2026:02:04 00:00:00\0"}) == ExifTime(datetime(2026, 2, 4))
    assert exif_time({0x9003: "2026:02:03 04:05:06", 0x9011: "+99:00"}) == ExifTime(datetime(2026, 2, 3, 4, 5, 6))
    assert exif_time({0x9003: 7}) is None


def test_an_absurd_exif_time_yields_to_the_name() -> None:
    absurd = ExifTime(datetime(2090, 1, 1))
    found = capture_time(file_name="IMG_20260105_150405.jpg", exif=absurd, mtime=MTIME.timestamp(), zone=ZONE, now=NOW)
    assert found.source == "filename"


def test_an_mtime_no_clock_knows_is_now() -> None:
    assert capture_time(file_name="a.png", exif=None, mtime=1e30, zone=UTC, now=NOW).at == NOW


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "HEIF"])
def test_exif_is_read_from_every_format(form: str) -> None:
    from PIL import Image
    from pillow_heif import register_heif_opener

    register_heif_opener()
    exif = Image.Exif()
    exif[0x010F] = "a maker"
    exif.get_ifd(0x8769).update({0x9003: "2026:02:03 04:05:06", 0x9011: "+08:00"})
    assert read_exif_time(encoded(form=form, exif=exif)) == ExifTime(datetime(2026, 2, 3, 4, 5, 6), timedelta(hours=8))


def test_the_time_of_an_ios_screenshot_is_in_its_xmp() -> None:
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_itxt("XML:com.adobe.xmp", "<rdf:li><photoshop:DateCreated>2026-02-03T04:05:06</photoshop:DateCreated></rdf:li>")
    assert read_exif_time(encoded(pnginfo=info)) == ExifTime(datetime(2026, 2, 3, 4, 5, 6))


@given(st.binary(max_size=200))
def test_broken_metadata_is_none(data: bytes) -> None:
    assert read_exif_time(encoded(form="JPEG", exif=b"Exif\0\0" + data)) is None or data
    assert read_exif_time(data) is None


@pytest.mark.skipif(not SCREENS.exists(), reason="needs the labelled screenshots of ../shared/eval/screens")
def test_the_labelled_screenshots() -> None:
    rows = [json.loads(line) for line in (SCREENS / "screens.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        path = SCREENS / "screens" / row["file"]
        exif = read_exif_time(path.read_bytes())
        found = capture_time(file_name=path.name, exif=exif, mtime=path.stat().st_mtime, zone=ZONE, now=NOW)
        assert (found.at, found.source) == (datetime.fromisoformat(row["taken_at"]), row["time_source"]), path.name
