import pytest

from memory.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("昨天截了哪些图", "zh"),
        ("show my recent screenshots", "en"),
        ("lookbook 拍摄", "zh"),
        ("7-3-2208", "zh"),
        ("", "zh"),
        ("🍊", "zh"),
        ("驗證碼是多少", "zh"),
    ],
)
def test_chinese_unless_the_text_is_plainly_english(text: str, language: str):
    assert language_of(text) == language
