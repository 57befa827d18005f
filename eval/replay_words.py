"""What the terminal and the page say of a kept deal, in English and Chinese.

Terms of the game are those of `ddz_env.words`; here is what only replays say.
"""

from ddz_env.state import Phase
from ddz_env.words import LANGS, player, word

WORDS: dict[str, tuple[str, str]] = {
    # deal
    "replay": ("Replay", "牌局回放"),
    "deal": ("deal", "牌局"),
    "key": ("key", "牌号"),
    "cards": ("cards", "张"),
    "broken off": ("the deal was broken off here", "此局到此中断"),
    "result": ("Result", "结果"),
    "went out": ("went out", "出完"),
    "points": ("points", "分"),
    "doubled": ("doubled", "已加倍"),
    "limit": (
        "{n} deals are in the file; the first {most} are on this page.",
        "文件共有 {n} 局，本页为前 {most} 局。",
    ),
    # parts of a score
    "the room's": ("the room's", "房间"),
    "shows": ("shown hands", "明牌"),
    "robs": ("robs", "抢地主"),
    "blind": ("blind grab", "闷抓"),
    "raises": ("raises", "倒拉垒沃"),
    "bombs": ("bombs and rockets", "炸弹和火箭"),
    "room_factor": ("the room's factor", "房间系数"),
    # decisions
    "plays": ("plays", "出"),
    "leads": ("leads", "先出"),
    "passes": ("passes", "不要"),
    "end": ("End of the deal", "牌局结束"),
    "chance": ("chance", "胜率"),
    "model": ("model", "模型"),
    "made": ("played", "实际"),
    "preferred": ("preferred", "首选"),
    # page
    "first": ("First decision", "第一步"),
    "back": ("One decision back", "上一步"),
    "next": ("Next decision", "下一步"),
    "last": ("End of the deal", "最后"),
    "slider": ("Decision", "步骤"),
    "language": ("Language", "语言"),
    "choose": ("Deal", "牌局"),
    "all": ("All decisions", "全部步骤"),
    "otherwise": ("Where the model would have chosen otherwise", "模型会另选的步骤"),
    "agrees": (
        "The model would have made every choice that it values.",
        "模型对所有可评估的步骤选择相同。",
    ),
    "own chance": (
        "With the chance of winning of the seat that decides, by what it chose.",
        "附作出决定的一方按其选择的胜率。",
    ),
    "values": ("What the model says of this decision", "模型对此步的评价"),
    "forced": (
        "No choice here, or none that the model values.",
        "此处别无选择，或模型不作评价。",
    ),
    "more": ("of {n} choices", "共 {n} 种"),
    "open hand": ("hand", "手牌"),
    "farmers": ("farmers", "农民"),
    "would differ": ("the model would have chosen otherwise", "模型会另选"),
    "red 7": ("red 7", "红7"),
    "table": ("Table", "牌桌"),
    "chances": ("The landlord's chance of winning", "地主胜率"),
    "by made": ("by the value of what was chosen", "按实际选择"),
    "by best": ("by the value of the best choice", "按最佳选择"),
    "about": (
        "Chances are what {agent} says of the choice of the seat on turn, from what this seat may"
        " know: its own hand, not the others'. A farmer's chance is turned into the landlord's."
        " The seats see different cards, so the line may jump from one decision to the next without"
        " a mistake of anybody. Decisions without an alternative have no value.",
        "胜率由 {agent} 给出：它评价轮到的玩家的选择，"
        "只依据该玩家所知（自己的手牌，不含他人手牌）。"
        "农民的胜率换算为地主胜率。各家所见不同，因此曲线在相邻两步之间跳动未必是失误。"
        "别无选择的步骤没有评价。",
    ),
    "no values": (
        "This page is without values of a model: none was asked for, or no weights ship for the"
        " room.",
        "本页没有模型评价：未指定模型，或没有适用于此房间的权重。",
    ),
    "keys": (
        "Arrow keys go from decision to decision; Home and End to the first and the last.",
        "方向键逐步前进或后退；Home 和 End 到首尾。",
    ),
    "open": (
        "All hands are open; suits are decoration. ☆ small joker, ★ big joker, * a wild card.",
        "所有手牌公开；花色仅作装饰。☆ 小王，★ 大王，* 癞子。",
    ),
}
"""English and Chinese; the braces are filled in."""

_PLAIN = (
    "pass", "no", "call_1", "call_2", "call_3", "call", "rob", "show", "look", "blind", "double",
    "raise", "landlord", "landlord_down", "landlord_up", "base", "multiplier", "bottom", "wild",
    "redeals", "jokers", "landlord wins", "farmers win", "void deal", "spring", "score", "left",
    "seat", "role",
)  # fmt: skip
_CHOICES = {"call": ("call", "叫地主"), "rob": ("rob", "抢地主"), "raise": ("raise", "加注"),
            "blind": ("grab blind", "闷抓")}  # fmt: skip


def say(key: str, lang: str) -> str:
    """A term in a language; a text that is no term, as a play is, stays as it is."""
    if key in WORDS:
        return WORDS[key][LANGS.index(lang)]
    return word(key, lang).replace("_", " ")


def say_choice(text: str, lang: str) -> str:
    """What a seat decides: a play as it is, a choice before the play in words."""
    return _CHOICES[text][LANGS.index(lang)] if text in _CHOICES else say(text, lang)


def say_phase(phase: str, lang: str) -> str:
    """The name of a phase."""
    return word(phase, lang).replace("_", " ")


def page_words() -> dict[str, dict[str, dict[str, str] | list[str]]]:
    """All that a page says, by language: terms, choices, phases, names of the seats."""
    return {
        lang: {
            "terms": {key: say(key, lang) for key in (*WORDS, *_PLAIN)},
            "choices": {key: say_choice(key, lang) for key in _PLAIN},
            "phases": {p.name.lower(): say_phase(p.name.lower(), lang) for p in Phase},
            "seats": [player(seat, lang) for seat in range(3)],
        }
        for lang in LANGS
    }
