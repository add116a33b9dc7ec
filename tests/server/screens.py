"""Phone screens for tests: a clock, a headline and a few coloured cards."""

from pathlib import Path

from PIL import Image, ImageDraw

SIZE = (360, 640)


def draw(path: Path, headline: str, *, clock: str = "09:41", seed: int = 0) -> Path:
    """Save a screen that says `headline`; another `seed` looks different."""
    image = Image.new("RGB", SIZE, "white")
    canvas = ImageDraw.Draw(image)
    canvas.text((10, 2), clock, fill="black", font_size=18)
    canvas.text((20, 60), headline, fill="black", font_size=32)
    for number in range(4):
        left = 20 + (seed * 61 + number * 97) % 200
        top = 140 + 120 * number
        canvas.rectangle((left, top, left + 120, top + 90), fill=((seed * 40 + 30) % 200, 40 * number, 120))
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return path
