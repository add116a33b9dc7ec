import io
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

import pytest
from PIL import Image, ImageCms

from memory.media import CHAT_LIMITS, LIBRARY_LIMITS, Limits, MediaError, TurnAllowance, prepare_image
from tests.memory.pictures import encoded, picture, png_bomb

ORIENTATION = 0x0112
GPS = 0x8825


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def working(data: bytes) -> Image.Image:
    return opened(prepare_image(data).working or data)


def near(pixel: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return all(abs(a - b) <= 40 for a, b in zip(pixel, wanted, strict=False))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF"])
def test_every_format_gives_size_thumbnail_and_a_plain_working_copy(form: str) -> None:
    data = encoded(picture(800, 600), form)
    prepared = prepare_image(data)
    assert (prepared.kind, prepared.width, prepared.height) == ("image", 800, 600)
    assert prepared.mime_type == f"image/{form.lower()}"
    small = opened(prepared.thumbnail or b"")
    assert (small.format, small.size) == ("JPEG", (512, 384))
    copy = working(data)
    assert copy.mode == "RGB"
    assert copy.size == (800, 600)
    assert near(copy.getpixel((700, 300)), (20, 20, 220))


def test_heic_is_read_upright() -> None:
    from pillow_heif import from_pillow

    buffer = io.BytesIO()
    from_pillow(picture(64, 48)).save(buffer, quality=90)
    prepared = prepare_image(buffer.getvalue())
    assert (prepared.mime_type, prepared.width, prepared.height, prepared.working_mime_type) == ("image/heic", 64, 48, "image/jpeg")


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_exif_orientation_is_applied(form: str, orientation: int) -> None:
    seen = picture(64, 32)
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # Pillow's Transpose that stores what the tag turns back
    stored = seen if orientation == 1 else seen.transpose(Image.Transpose(undo[orientation]))
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    copy = working(encoded(stored, form, exif=exif))
    assert copy.size == (64, 32)
    assert near(copy.getpixel((4, 2)), (20, 200, 20))
    assert near(copy.getpixel((60, 30)), (20, 20, 220))
    assert copy.getexif().get(ORIENTATION, 1) == 1


def test_broken_exif_does_not_spoil_the_picture() -> None:
    data = encoded(form="JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff")
    assert prepare_image(data).kind == "image"


def test_a_plain_picture_is_its_own_working_copy() -> None:
    assert prepare_image(encoded(form="JPEG")).working is None
    assert prepare_image(encoded(picture(mode="RGBA"))).working is None


def test_location_is_not_in_the_working_copy() -> None:
    exif = Image.Exif()
    exif.get_ifd(GPS)[1] = "N"
    exif.get_ifd(GPS)[2] = (31.0, 14.0, 0.0)
    data = encoded(form="JPEG", exif=exif)
    assert GPS in opened(data).getexif()
    assert GPS not in working(data).getexif()


@pytest.mark.parametrize("mode", ["1", "L", "P", "CMYK", "LAB"])
def test_odd_modes_become_rgb(mode: str) -> None:
    image = ImageCms.profileToProfile(picture(), ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), outputMode="LAB")
    data = encoded(image if mode == "LAB" else picture(mode=mode), "JPEG" if mode == "CMYK" else "TIFF")
    assert working(data).mode == "RGB"


@pytest.mark.parametrize(("mode", "form"), [("RGBA", "PNG"), ("LA", "PNG"), ("RGBA", "WEBP"), ("RGBA", "TIFF"), ("RGBA", "AVIF")])
def test_transparency_is_kept_and_white_in_the_thumbnail(mode: str, form: str) -> None:
    image = picture(mode=mode)
    image.putalpha(0)
    prepared = prepare_image(encoded(image, form))
    copy = working(encoded(image, form))
    assert copy.mode == "RGBA"
    assert copy.getpixel((5, 5))[3] == 0
    assert near(opened(prepared.thumbnail or b"").getpixel((5, 5)), (255, 255, 255))


def test_palette_transparency_is_kept() -> None:
    image = picture().quantize(8)
    copy = working(encoded(image, "PNG", transparency=image.getpixel((0, 0))))
    assert copy.getpixel((0, 0))[3] == 0
    assert copy.getpixel((39, 23))[3] == 255


def test_sixteen_bit_grey_keeps_its_tones() -> None:
    image = Image.new("I;16", (32, 32), 32_896)
    assert near(working(encoded(image)).getpixel((3, 3)), (128, 128, 128))


def test_float_pictures_are_stretched() -> None:
    image = Image.linear_gradient("L").convert("F").point(lambda value: value / 255 + 0)
    copy = working(encoded(image, "TIFF"))
    assert copy.getextrema()[0] == (0, 255)


def test_colours_go_through_the_profile() -> None:
    adobe_like = ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ"))
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
    assert prepare_image(encoded(form="PNG", icc_profile=srgb.tobytes())).working is None
    odd = prepare_image(encoded(form="PNG", icc_profile=adobe_like.tobytes()))
    assert odd.working is not None
    assert "icc_profile" not in opened(odd.working).info
    assert prepare_image(encoded(form="PNG", icc_profile=b"no profile")).kind == "image"


def test_the_first_frame_stands_for_an_animation() -> None:
    frames = [Image.new("RGB", (32, 32), colour) for colour in ("red", "blue", "lime")]
    for form in ("GIF", "WEBP", "PNG", "TIFF"):
        copy = working(encoded(frames[0], form, save_all=True, append_images=frames[1:]))
        assert near(copy.getpixel((9, 9)), (255, 0, 0)), form
        assert getattr(copy, "n_frames", 1) == 1


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (encoded(picture(15, 40)), "bad_size"),
        (encoded(Image.new("1", (16_385, 16))), "bad_size"),
        (encoded(picture(400, 400), "JPEG")[:2000], "corrupt"),
        (encoded(picture(400, 400))[:300], "corrupt"),
        (b"\x89PNG\r\n\x1a\n" + b"nonsense" * 20, "corrupt"),
        (b"\xff\xd8\xff\xe0", "corrupt"),
        (b"GIF89a", "corrupt"),
        (b"II*\0\x08\0\0\0\xff\xff", "corrupt"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 64, "corrupt"),
        (encoded(form="AVIF")[:200], "corrupt"),
        (encoded(form="WEBP")[:60], "corrupt"),
    ],
)
def test_what_cannot_be_used_has_a_code(data: bytes, code: str) -> None:
    with pytest.raises(MediaError) as error:
        prepare_image(data)
    assert error.value.code == code


def test_limits_are_arguments() -> None:
    data = encoded(picture(100, 100))
    tight = Limits(max_bytes=len(data) - 1, max_pixels=10_000)
    with pytest.raises(MediaError, match="too_large"):
        prepare_image(data, limits=tight)
    with pytest.raises(MediaError, match="too_many_pixels"):
        prepare_image(data, limits=Limits(max_bytes=10**6, max_pixels=9_999))
    large = png_bomb(9000, 8000)
    with pytest.raises(MediaError, match="too_many_pixels"):
        prepare_image(large, limits=CHAT_LIMITS)
    assert prepare_image(png_bomb(9600, 9600), limits=LIBRARY_LIMITS).width == 9600  # more than Pillow likes, less than the limit


@pytest.mark.parametrize("side", [14_000, 30_000])
def test_a_bomb_is_refused_from_its_header(side: int) -> None:
    data = png_bomb(side, side)
    started = time.perf_counter()
    with pytest.raises(MediaError, match="too_many_pixels"):
        prepare_image(data, limits=LIBRARY_LIMITS)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("data", [b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%PDF-1.7", b"hello", b"\0\1\2", b"\0\0\1\0ico"])
def test_anything_else_is_a_file(data: bytes) -> None:
    prepared = prepare_image(data)
    assert (prepared.kind, prepared.working, prepared.thumbnail) == ("file", None, None)


def test_it_runs_in_a_spawned_worker() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(prepare_image, encoded(), limits=CHAT_LIMITS).result().width == 40
        error = pool.submit(prepare_image, b"").exception()
    assert isinstance(error, MediaError)
    assert error.code == "empty"


def test_a_turn_has_ten_pictures_and_sixty_megabytes() -> None:
    allowance = TurnAllowance()
    for _ in range(10):
        allowance.take("image", 1_000_000)
    with pytest.raises(MediaError, match="too_large"):
        allowance.take("image", 1)
    allowance.take("file", 50_000_000)
    with pytest.raises(MediaError, match="too_large"):
        allowance.take("file", 1)
