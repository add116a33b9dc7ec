import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.search.text import index_tokens, normalise, runs


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("ＡＢＣ１２３", "abc123"),
        ("龍門客棧　臺北", "龙门客栈台北"),
        ("看著乾淨的裏面", "看着干净的里面"),
        ("微 信 支 付", "微信支付"),
        ("微\u200b信\ufeff支\u00ad付", "微信支付"),
        ("iPhone 手机", "iphone 手机"),
        ("①㎏ﬁ", "1kgfi"),
    ],
)
def test_one_spelling(written: str, seen: str) -> None:
    assert normalise(written) == seen


def test_cut_at_script_borders() -> None:
    assert [run.text for run in runs("乘g7315次，7-3-2208")] == ["乘", "g7315", "次", "7", "3", "2208"]


def test_cjk_is_cut_into_bigrams_and_the_last_character() -> None:
    assert index_tokens("去杭州") == ["去杭", "杭州", "州"]
    assert index_tokens("G7315次") == ["g7315", "次"]


def test_a_grouped_number_is_also_one_number() -> None:
    assert index_tokens("¥1,280.00") == ["1", "280", "00", "1280"]


def test_emoji_are_tokens() -> None:
    assert index_tokens("好🍊👍🏽") == ["好", "🍊", "👍", "🏽"]


@given(st.text())
def test_normalising_twice_changes_nothing_that_is_searched(text: str) -> None:
    once = normalise(text)
    assert [run.text for run in runs(normalise(once))] == [run.text for run in runs(once)]


@given(st.text(alphabet="天地玄黃宇宙洪荒한글かなab1, \n，"))
def test_every_character_starts_a_token(text: str) -> None:
    tokens = index_tokens(text)
    assert all(any(token.startswith(character) for token in tokens) for run in runs(normalise(text)) if run.dense for character in run.text)


@given(st.text())
def test_tokens_hold_no_blank(text: str) -> None:
    assert not any(" " in token or token == "" for token in index_tokens(text))
