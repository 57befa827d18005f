"""What the game says to a person, in English and Chinese; terms of the table are in words.py."""

import re

from ddz_env.catalogue import Category

PHRASES: dict[str, tuple[str, str]] = {
    # what is asked
    "ask_lead": ("you lead: cards", "轮到你先出: 牌"),
    "ask_reply": ("your turn: cards, or p to pass", "轮到你: 牌, 或 p 不要"),
    "ask_pass": ("nothing you hold beats it: Enter passes", "没有大过的牌: 回车不要"),
    "ask_which": ("which one? a number", "哪一种? 输入编号"),
    "ask_leave": ("which one? a number", "怎样? 输入编号"),
    "ask_next": (
        "Enter: next deal, r: the same from the next seat, u: take back, q: leave",
        "回车: 下一局, r: 同一副牌换座位再打, u: 悔棋, q: 离开",
    ),
    "ask_last": ("Enter or q: leave, u: take back", "回车或 q: 离开, u: 悔棋"),
    "keys": ("(h hint, u take back, ? help, q leave)", "(h 提示, u 悔棋, ? 帮助, q 离开)"),
    # questions before the play
    "q_show_before_deal": ("Show your cards before the deal", "明牌开始吗"),
    "q_show_at_6": ("Show your cards now", "现在明牌吗"),
    "q_show_at_12": ("Show your cards now", "现在明牌吗"),
    "q_call_points": ("Call", "叫分"),
    "q_call": ("Call the landlord", "叫地主吗"),
    "q_rob": ("Rob the landlord", "抢地主吗"),
    "q_blind": ("Grab blind for x{x}, or look at your cards", "闷抓 (x{x}) 还是看牌"),
    "q_show_after_bottom": ("Show your cards before you play", "出牌前明牌吗"),
    "q_double": ("Double your stake", "加倍吗"),
    "q_raise": ("Raise the stakes", "要加注吗 (倒拉垒沃)"),
    # what is told
    "pass": ("pass", "不要"),
    "redeal": ("all passed: the cards are dealt anew", "都不叫, 重新发牌"),
    "fault": (
        "{name} failed ({why}); auto-play goes on for it",
        "{name} 出错 ({why}), 由托管代打",
    ),
    "taken_back": ("taken back", "已悔棋"),
    "declared": ("declared as {play}", "报为 {play}"),
    "hint_ranked": (
        "{name}: chance to win, points expected",
        "{name}: 胜率, 期望得分",
    ),
    "hint_choice": ("{name} would choose: {play}", "{name} 会选: {play}"),
    "which_head": ("these cards can be played as:", "这些牌可以作为:"),
    "which_none": ("{n}  something else", "{n}  重新选牌"),
    "leave_queen": ("{n}  play the queen", "{n}  出 Q"),
    "leave_head": ("leave the table?", "要离开牌桌吗?"),
    "leave_stay": ("{n}  stay", "{n}  留下"),
    "leave_auto": (
        "{n}  auto-play (托管) finishes the deal for you, it counts; then leave",
        "{n}  托管打完这一局(计分), 然后离开",
    ),
    "leave_flee": (
        "{n}  escape (逃跑): the deal ends now, you pay {points} points, {beans} beans",
        "{n}  逃跑: 牌局立即结束, 你付 {points} 分, {beans} 豆",
    ),
    "fled": (
        "you escaped: {points} points, {beans} beans paid",
        "你逃跑了: 付 {points} 分, {beans} 豆",
    ),
    "auto": ("no more input: auto-play (托管) finishes the deal", "没有输入: 托管打完这一局"),
    "bye": (
        "you leave; deals played: {deals}, points {points}, beans {beans}, title {title}",
        "你离开了: 打了 {deals} 局, 积分 {points}, 欢乐豆 {beans}, 等级 {title}",
    ),
    # what is refused: each says what was expected
    "no_card": (
        "{what!r} is no card: expected 3..9 T J Q K A 2, X small joker, D big joker{wild}",
        "{what!r} 不是牌: 应为 3..9 T J Q K A 2, X 小王, D 大王{wild}",
    ),
    "no_card_wild": (", W wild", ", W 癞子"),
    "not_held": (
        "you hold {have} of {card}, typed were {typed}: expected cards of your hand",
        "你有 {have} 张 {card}, 输入了 {typed} 张: 应为手里的牌",
    ),
    "no_play": (
        "{cards} is no play: expected one such as 5, 55, 555+6, 34567 (? lists them)",
        "{cards} 不成牌型: 应为如 5, 55, 555+6, 34567 的牌 (? 有说明)",
    ),
    "not_declared": (
        "{text} can't be made of your hand: expected a play that it makes",
        "手里的牌组不成 {text}: 应为能组成的牌型",
    ),
    "illegal": ("{play}: {why}", "{play}: {why}"),
    "weaker_bomb": (
        "this bomb does not beat {last}: expected a higher one",
        "这个炸弹大不过 {last}: 应出更大的",
    ),
    "must_lead": ("you lead and can't pass: expected cards", "你先出, 不能不要: 应输入牌"),
    "expected_number": ("{text!r}: expected a number 1..{n}", "{text!r}: 应为编号 1..{n}"),
    "expected_choice": ("{text!r}: expected one of {keys}", "{text!r}: 应为 {keys} 之一"),
    "expected_next": ("{text!r}: expected Enter, r, u or q", "{text!r}: 应为回车, r, u 或 q"),
    "expected_last": ("{text!r}: expected Enter, u or q", "{text!r}: 应为回车, u 或 q"),
    "no_again": ("r: the deal is not over", "r: 这一局还没有结束"),
    "no_back": (
        "nothing to take back: expected a decision of yours in this deal",
        "不能悔棋: 本局你还没有做过决定",
    ),
    "no_hint": (
        "no hint now: expected a decision of yours to be asked",
        "现在没有提示: 要轮到你时才有",
    ),
    # the screen
    "deal": ("deal", "第"),
    "table": ("table", "牌桌"),
    "name": ("player", "名称"),
    "points": ("points", "积分"),
    "beans": ("beans", "欢乐豆"),
    "title": ("title", "等级"),
    "since": ("since then", "之后"),
    "hand": ("your hand", "手牌"),
    "cards": ("cards", "张"),
    "not_looked": ("not looked at yet", "还没有看牌"),
    "not_dealt": ("no cards dealt yet", "还没有发牌"),
    "shows": ("shows", "明牌"),
    "wild_is": ("wild", "癞子"),
    "had_left": ("left over", "剩牌"),
    "this_deal": ("this deal", "本局"),
    "void": ("void deal: nobody wins", "流局"),
}  # fmt: skip
"""Sentences by key: English, Chinese; braces are filled in by `say`."""

CHOICES: dict[str, tuple[str, str]] = {
    "call_1": ("1 point", "1分"),
    "call_2": ("2 points", "2分"),
    "call_3": ("3 points", "3分"),
    "call": ("call", "叫地主"),
    "rob": ("rob", "抢地主"),
    "show": ("show", "明牌"),
    "blind": ("blind", "闷抓"),
    "look": ("look", "看牌"),
    "double": ("double", "加倍"),
    "raise": ("raise", "倒"),
}
"""What can be chosen before the play, in both languages."""

RAISES = ("倒", "拉", "垒", "沃")
"""Each raise has a name of its own in Chinese."""

NOES: dict[str, tuple[str, str]] = {
    "call_points": ("pass", "不叫"),
    "call": ("pass", "不叫"),
    "rob": ("no", "不抢"),
    "double": ("no", "不加倍"),
    "raise": ("no", "不加注"),
}
"""How the no of a phase is called; `no`, 不明牌 elsewhere."""

CATEGORIES: dict[Category, str] = {
    Category.SOLO: "单牌",
    Category.PAIR: "对牌",
    Category.TRIO: "三张",
    Category.TRIO_WITH_SOLO: "三带一",
    Category.TRIO_WITH_PAIR: "三带二",
    Category.SOLO_CHAIN: "单顺",
    Category.PAIR_CHAIN: "双顺",
    Category.AIRPLANE: "三顺",
    Category.AIRPLANE_WITH_SOLOS: "飞机带单",
    Category.AIRPLANE_WITH_PAIRS: "飞机带对",
    Category.FOUR_WITH_TWO_SOLOS: "四带二",
    Category.FOUR_WITH_TWO_PAIRS: "四带两对",
    Category.BOMB: "炸弹",
    Category.ROCKET: "火箭",
}
"""Kinds of plays in Chinese."""

_REASONS = (  # what `position.why_illegal` says, and the same in Chinese
    (r"who leads must play", "先出的人必须出牌"),
    (r"room (\S+) has no (\S+)", r"牌室 \1 没有\2"),
    (r"room (\S+) does not allow these kickers", r"牌室 \1 不许这样带牌"),
    (r"the hand has (\d+) of (\S+), the play takes (\d+)", r"手里有 \1 张 \2, 要用 \3 张"),
    (r"a (\S+) of (\d+) does not answer one of (\d+)", r"长度 \2 的\1不能压长度 \3 的"),
    (r"its rank (\S+) does not beat (\S+); kickers never count", r"\1 大不过 \2 (带的牌不算)"),
    (r"nothing beats the rocket", "没有牌大过火箭"),
    (r"a (\S+) does not answer a (\S+)", r"\1不能压\2"),
    (r"a (\S+) does not beat a (\S+)", r"\1大不过\2"),
)

HELP: dict[str, tuple[str, ...]] = {
    "en": (
        "Type the cards that you play, in any order: 3334 is 333+4. Suits don't matter.",
        "  letters    3 4 5 6 7 8 9, T = 10, J Q K A 2, X = small joker, D = big joker",
        "  order      3 lowest .. A 2 X D; bombs beat the rest, the rocket beats all",
        "  plays      solo 5, pair 55, trio 555 with a solo or pair, chain 34567, 334455,",
        "             airplane 333444 with two solos or pairs, 4444 with two of them,",
        "             bomb 4444, rocket XD",
        "  p          pass, no (Enter passes too when a play is to beat)",
        "  y n        yes, no to a question; its word in either language does as well",
        "  h u        hint: what the helper would do; take back your last decision",
        "  r          after a deal: the same cards again, everybody one seat further",
        "  q          leave (it asks how: auto-play to the end, or escape)",
        "  ?          this page",
    ),
    "zh": (
        "输入要出的牌, 顺序随意: 3334 即 333+4, 10 即 T. 不分花色.",
        "  字母       3 4 5 6 7 8 9, T = 10, J Q K A 2, X = 小王, D = 大王",
        "  大小       3 最小 .. A 2 X D 最大; 炸弹大过其他牌, 火箭最大",
        "  牌型       单牌 5, 对牌 55, 三张 555 可带一张或一对, 顺子 34567, 334455,",
        "             飞机 333444 可带两张或两对, 四带二 4444 带两张或两对,",
        "             炸弹 4444, 火箭 XD",
        "  p          不要, 不 (有牌要压时回车也是不要)",
        "  y n        回答是或不是; 也可以输入对应的中文或英文词",
        "  h u        提示; 悔棋(收回你上一个决定)",
        "  r          一局之后: 同一副牌, 大家换到下一个座位再打",
        "  q          离开 (会问怎样离开: 托管打完, 或逃跑)",
        "  ?          本页",
    ),
}  # fmt: skip
"""The page behind `?`."""

HELP_WILD: dict[str, dict[str, str]] = {
    "rank": {
        "en": "  W          a wild card: any rank 3..2 beside natural cards; {wild}",
        "zh": "  W          癞子: 与其他牌一起可作 3..2 任一点数; {wild}",
    },
    "red_sevens": {
        "en": "  W          a wild card: any rank 3..2 beside natural cards; {wild}",
        "zh": "  W          癞子: 与其他牌一起可作 3..2 任一点数; {wild}",
    },
    "jokers": {
        "en": "  X D        wild cards: any rank 3..2 beside natural cards; X is spent first",
        "zh": "  X D        癞子: 与其他牌一起可作 3..2 任一点数; 先用 X",
    },
}
"""A line more in rooms with wild cards."""
HELP_STAR = {
    "en": "             445566* is declared so: the star is behind the wild card",
    "zh": "             445566* 即这样报牌: 星号在癞子后面",
}


def say(key: str, lang: str, **values: object) -> str:
    """A sentence of `PHRASES` in a language, filled in."""
    text = PHRASES[key][lang == "zh"]
    return text.format(**values) if values else text


def choice_words(phase: str, action: str, raises: int = 0) -> tuple[str, str]:
    """What a choice before the play is called, in English and in Chinese.

    Args:
        phase: the phase's name.
        action: the text of the choice, `pass` for the no.
        raises: raises made so far: each has its own word.
    """
    if action == "pass":
        return NOES.get(phase, ("no", "不明牌"))
    english, chinese = CHOICES[action]
    return english, RAISES[raises % 4] if action == "raise" else chinese


def category_name(category: int, lang: str) -> str:
    """The name of a kind of play."""
    kind = Category(category)
    return CATEGORIES[kind] if lang == "zh" else kind.name.lower()


def reason(text: str, lang: str) -> str:
    """A reason of `position.why_illegal` in a language; in English it stays as it is."""
    if lang != "zh":
        return text
    names = {kind.name.lower(): word for kind, word in CATEGORIES.items()}
    for pattern, chinese in _REASONS:
        match = re.fullmatch(pattern, text)
        if match:
            filled = match.expand(chinese)
            return re.sub(r"[a-z]+(?:_[a-z]+)*", lambda m: names.get(m[0], m[0]), filled)
    return text
