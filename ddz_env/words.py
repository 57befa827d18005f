"""What pictures and screens of a deal say, in English and Chinese."""

from ddz_env.errors import DdzError

LANGS = ("en", "zh")
"""The languages of `render.ansi` and `render.rgb_array`."""

_ZH = {
    # phases
    "show_before_deal": "明牌开始",
    "show_at_6": "发牌明牌",
    "show_at_12": "发牌明牌",
    "call_points": "叫分",
    "call": "叫地主",
    "rob": "抢地主",
    "blind": "闷抓",
    "show_after_bottom": "明牌",
    "double": "加倍",
    "raise": "倒拉垒沃",
    "play": "出牌",
    "fill": "定癞子",
    "over": "结束",
    # decisions
    "pass": "不要",
    "no": "不",
    "call_1": "1分",
    "call_2": "2分",
    "call_3": "3分",
    "show": "明牌",
    "look": "看牌",
    "raise_1": "倒",
    "raise_2": "拉",
    "raise_3": "垒",
    "raise_4": "沃",
    # roles
    "landlord": "地主",
    "landlord_down": "地主下家",
    "landlord_up": "地主上家",
    "farmer": "农民",
    # table
    "base": "底分",
    "multiplier": "倍数",
    "bottom": "底牌",
    "phase": "阶段",
    "redeals": "重发",
    "wild": "癞子",
    "jokers": "王",
    "red 7": "红7",
    "turned up": "翻牌",
    "of": "属",
    "seat": "座位",
    "role": "身份",
    "left": "余牌",
    "hand": "手牌",
    "last": "上一手",
    "hidden": "暗牌",
    "unseen": "未见",
    "declared": "已报",
    "to beat": "待压",
    "score": "得分",
    "before the play": "牌前",
    "you": "我",
    "decides": "决定",
    "leads": "先出",
    "plays": "出牌",
    "fills wilds": "定癞子",
    "landlord wins": "地主胜",
    "farmers win": "农民胜",
    "void deal": "流局",
    "spring": "春天",
}
_EN = {
    "no": "pass",
    **{f"raise_{n}": "raise" for n in range(1, 5)},
}


def check_lang(lang: str) -> str:
    """The language itself.

    Raises:
        DdzError: no language of `LANGS`.
    """
    if lang not in LANGS:
        raise DdzError(f"lang: expected one of {', '.join(LANGS)}, got {lang!r}")
    return lang


def word(key: str, lang: str) -> str:
    """A term in a language; a text that is no term, as a play is, stays as it is."""
    return (_ZH if lang == "zh" else _EN).get(key, key)


def player(seat: int, lang: str) -> str:
    """The name of a seat."""
    return f"玩家{seat}" if lang == "zh" else f"player_{seat}"


def score(points: float | None) -> str:
    """Points with their sign; empty for none."""
    if not points:
        return "" if points is None else "0"
    return f"{points:+.2f}".rstrip("0").rstrip(".")
