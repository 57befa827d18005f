// What the page says of itself, in English and Chinese; what the table says comes from the server.
import { me } from "./dom.js";

const WORDS = {
  title: ["Dou Dizhu", "斗地主"],
  theme: ["Look", "外观"], auto: ["as the system", "跟随系统"], light: ["light", "浅色"], dark: ["dark", "深色"],
  language: ["Language", "语言"],
  pace: ["Pace", "节奏"], slow: ["slow", "慢"], normal: ["normal", "正常"], instant: ["instant", "立即"],
  // lobby
  new: ["New table", "开新桌"], room: ["Room", "房间"], next: ["Player after you", "下家"],
  previous: ["Player before you", "上家"], seat: ["Your seat", "座位"], random: ["drawn", "随机"],
  limit: ["Time to decide", "出牌时限"], none: ["no limit", "不限"], seconds: ["{n} seconds", "{n} 秒"],
  open: ["All hands open (practice)", "全部明牌 (练习)"], start: ["Deal", "开始"],
  tables: ["Your tables", "你的牌桌"], agents: ["Agents", "智能体"], levels: ["Levels", "等级"],
  best: ["strongest that is quick", "最强 (快速)"],
  novice: ["novice", "入门"], normal_level: ["normal", "普通"], hard: ["hard", "困难"], expert: ["expert", "大师"],
  master: ["master", "宗师"],
  lead: ["Cards, calls and wild cards of the Chinese game rooms, against two agents.",
    "按各家牌室的规则叫牌、出牌、用癞子, 对手是两个智能体。"],
  lobby: ["Tables", "牌桌列表"],
  how: ["How it goes", "玩法"],
  how1: ["One landlord with 20 cards plays against two farmers with 17 each. Who gets rid of all cards first wins for his side.",
    "一个地主 (20 张) 对两个农民 (各 17 张), 先出完牌的一方获胜。"],
  how2: ["Select cards by a click, by drawing over them, or by the letters of their ranks; the page says which play they are.",
    "点击、划过或按点数字母选牌; 页面会说明是什么牌型。"],
  how3: ["A hint shows what a trained model thinks of each play. A decision can be taken back; after the end there is a replay.",
    "提示给出模型对各种出法的评价; 可以悔棋; 结束后可看回放。"],
  // rooms
  play_only: ["card play only: seat 0 is the landlord", "只打牌: 0 号位是地主"],
  qq_classic: ["calls by points", "叫分"], jj_classic: ["calls by points, turned card", "叫分, 翻牌定先"],
  happy: ["call, rob, show, double", "叫地主, 抢地主, 明牌, 加倍"],
  happy_blind: ["blind grab, raises", "闷抓, 倒拉垒沃"],
  happy_laizi: ["wild cards: four of a rank", "癞子"], crazy_laizi: ["wild cards, rob, shows multiply", "疯狂癞子"],
  laidou: ["red sevens wild", "赖斗: 红7为癞子"],
  // table
  table: ["Table", "牌桌"], deal: ["deal {n}", "第 {n} 局"], you: ["you", "我"],
  bottom: ["bottom cards", "底牌"], base: ["base", "底分"], multiplier: ["multiplier", "倍数"], wild: ["wild", "癞子"],
  cards: ["{n} cards", "{n} 张"], beans: ["beans", "豆"], points: ["points", "积分"],
  hand: ["Your hand", "手牌"], shown: ["hand", "手牌"], nohand: ["no cards to see yet", "还看不到牌"],
  turned: ["turned up", "翻牌"], redeals: ["dealt anew {n}×", "重发 {n} 次"],
  play: ["Play", "出牌"], pass: ["Pass", "不要"], hint: ["Hint", "提示"], clear: ["Clear", "重选"],
  back: ["Take back", "悔棋"], autoplay: ["Auto-play", "托管"], leave: ["Leave", "离开"], help: ["Keys", "按键"],
  nextdeal: ["Next deal", "下一局"], again: ["Same cards, next seat", "同一副牌, 换座位"], replay: ["Replay of this deal", "本局回放"],
  ask_lead: ["You lead", "轮到你先出"], ask_reply: ["Your turn: beat it or pass", "轮到你: 出牌或不要"],
  ask_pass: ["Nothing you hold beats it", "没有大过的牌"],
  lastplay: ["last", "上一手"], thinking: ["the others think ...", "对手思考中 ..."],
  lost: ["Connection lost; trying again ...", "连接中断, 正在重连 ..."],
  gone: ["This table is closed.", "这张牌桌已关闭。"],
  won: ["You win", "你赢了"], lostdeal: ["You lose", "你输了"], void: ["Void deal", "流局"],
  left: ["You have left this table.", "你已离开这张牌桌。"], spring: ["spring", "春天"],
  // parts of the multiplier
  shows: ["shown hands", "明牌"], robs: ["robs", "抢地主"], blind: ["blind grab", "闷抓"],
  raises: ["raises", "倒拉垒沃"], bombs: ["bombs", "炸弹"], roomfactor: ["the room's", "房间"],
  // side
  since: ["Since your decision", "你出牌之后"], nothing: ["nothing yet", "暂无"],
  hints: ["What {name} thinks", "{name} 的看法"], chance: ["chance", "胜率"], expected: ["points", "得分"],
  ledger: ["Deals", "战绩"], unseen: ["Unseen cards", "未见的牌"], time: ["{n} s", "{n} 秒"],
  would: ["would choose", "会选"],
};

const KEYS = [
  ["3 … 9, T, J, Q, K, A, 2", ["select a card of this rank (again: one more)", "选一张该点数的牌 (再按: 多选一张)"]],
  ["X, D, W", ["small joker, big joker, a wild card", "小王, 大王, 癞子"]],
  ["← →, Space", ["go along the hand, select", "在手牌中移动, 选牌"]],
  ["Enter", ["play the selected cards; pass where nothing beats it; next deal", "出所选的牌; 没有大过的牌时不要; 下一局"]],
  ["P", ["pass", "不要"]], ["Esc", ["clear the selection", "重选"]],
  ["Y, N, 1, 2, 3 …", ["answers, as on the buttons", "回答, 见按钮"]],
  ["R", ["after a deal: the same cards again, everybody one seat further", "一局之后: 同一副牌, 大家换到下一个座位再打"]],
  ["H", ["hint", "提示"]], ["U", ["take back", "悔棋"]], ["?", ["this page", "本页"]],
];

export function say(key, facts = {}) {
  const text = WORDS[key]?.[me.lang === "zh" ? 1 : 0] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => facts[name] ?? "");
}
export const keyRows = () => KEYS.map(([keys, texts]) => [keys, texts[me.lang === "zh" ? 1 : 0]]);
export const seatName = (seat) => (me.lang === "zh" ? `玩家${seat}` : `player_${seat}`);
// "789 10 JQ": a ten takes two digits, so it stands apart.
export const cardsText = (text) => text.replace(/T/g, " 10 ").replace(/ +/g, " ").replace(/ ([+*])/g, "$1")
  .replace(/\+ /g, "+").trim().replace(/X/g, "☆").replace(/D/g, "★");
export const exact = (n) => (n < 0 ? "−" : "+") + Math.abs(n).toFixed(2);
export const signed = (n) => (n > 0 ? `+${n}` : n < 0 ? `−${Math.abs(n)}` : "0");
