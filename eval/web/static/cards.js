// Cards as SVG. Suits never count in this game; they are decoration that stays with a card.
import { el } from "./dom.js";

const SHAPES = {
  s: "M12 2C7 8 3 11 3 15.2 3 18 5 19.8 7.4 19.8 9 19.8 10.3 19 11 17.8L9.5 22h5L13 17.8c.7 1.2 2 2 3.6 2 2.4 0 4.4-1.8 4.4-4.6C21 11 17 8 12 2z",
  h: "M12 21C5 15 2 11.5 2 7.8 2 5 4.2 3 6.8 3 9 3 11 4.2 12 6.2 13 4.2 15 3 17.2 3 19.8 3 22 5 22 7.8 22 11.5 19 15 12 21z",
  c: "M12 2a4.6 4.6 0 0 1 3.9 7.1A4.6 4.6 0 1 1 13 16.6L14.5 22h-5L11 16.6A4.6 4.6 0 1 1 8.1 9.1 4.6 4.6 0 0 1 12 2z",
  d: "M12 1.5L20 12 12 22.5 4 12z",
  star: "M12 2l3 6.5 7 .8-5.2 4.8 1.4 7L12 17.6 5.8 21.1l1.4-7L2 9.3l7-.8z",
};
export const RANKS = "3456789TJQKA2XD";
export const rankName = (letter) => ({ T: "10", X: "☆", D: "★" })[letter] ?? letter;
const SPOKEN = { T: "10", X: "small joker", D: "big joker" };
const SPOKEN_ZH = { T: "10", X: "小王", D: "大王" };
export const spoken = (letter, lang) => (lang === "zh" ? SPOKEN_ZH : SPOKEN)[letter] ?? letter;

// A card: rank letter, suit or "", whether it is wild, and the rank's star where it stands for another.
export function cardSvg({ rank, suit, wild, star }) {
  const joker = "XD".includes(rank);
  const red = suit === "h" || suit === "d" || rank === "D";
  const classes = ["face", red && "red", (wild || star) && "wild", joker && "joker"].filter(Boolean).join(" ");
  const shape = star || joker ? "star" : suit;
  const at = (x, y, size) => `translate(${x} ${y}) scale(${size / 24})`;
  const text = joker
    ? el("text", { x: 11, y: 13, class: "word", transform: "rotate(90 11 13)" }, "JOKER")
    : el("text", { x: 5, y: 24, class: rank === "T" ? "rank ten" : "rank" }, rank === "T" ? "10" : rank);
  return el("svg", { viewBox: "0 0 60 84", class: classes, "aria-hidden": "true" },
    el("rect", { x: 1, y: 1, width: 58, height: 82, rx: 6, class: "paper" }),
    text,
    joker || !shape ? null : el("path", { d: SHAPES[shape], class: "pip", transform: at(5.5, 29, 14) }),
    shape ? el("path", { d: SHAPES[shape], class: "pip big", transform: at(joker ? 22 : 27, 50, joker ? 32 : 28) }) : null);
}

export function backSvg(n) {
  return el("svg", { viewBox: "0 0 60 84", class: "face back", "aria-hidden": "true" },
    el("rect", { x: 1, y: 1, width: 58, height: 82, rx: 6, class: "paper" }),
    el("rect", { x: 6, y: 6, width: 48, height: 72, rx: 4, class: "lines" }),
    el("text", { x: 30, y: 52, class: "count", "text-anchor": "middle" }, n));
}

// A text of cards ("333+4", "445566*") as cards: a star is behind each wild card.
export function read(text) {
  const found = [];
  for (const letter of text.replace(/\+/g, "")) {
    if (letter === "*") found[found.length - 1].star = true;
    else found.push({ rank: letter, star: false });
  }
  return found;
}

// Suits for the cards of a deal: mine keep theirs, the others' come from what is left.
export class Suits {
  constructor() { this.deal = null; this.mine = []; }

  // My hand as cards with ids, from its text; cards that go first are those in `gone`.
  update(key, text, wild, gone = new Set()) {
    if (this.deal !== key) { this.deal = key; this.mine = []; this.used = {}; }
    const want = {};
    for (const letter of text) want[letter] = (want[letter] ?? 0) + 1;
    const letters = new Set([...this.mine.map((card) => card.letter), ...Object.keys(want)]);
    for (const letter of letters) {
      let have = this.mine.filter((card) => card.letter === letter);
      const n = want[letter] ?? 0;
      while (have.length > n) {
        const out = have.find((card) => gone.has(card.id)) ?? have[have.length - 1];
        have = have.filter((card) => card !== out);
        this.mine = this.mine.filter((card) => card !== out);
      }
      for (let i = have.length; i < n; i += 1) this.mine.push(this.#make(letter, wild));
    }
    const order = (card) => (card.wild ? -100 : 0) - RANKS.indexOf(card.rank) + "shcd".indexOf(card.suit) / 8;
    for (const card of this.mine) {
      card.wild = card.letter === "W" || (wild.jokers && "XD".includes(card.letter));
    }
    this.mine.sort((a, b) => order(a) - order(b));
    return this.mine;
  }

  #make(letter, wild) {
    const rank = letter === "W" ? wild.rank : letter;
    const taken = (this.used[letter] ??= []);
    const free = this.#pool(letter, wild).filter((suit) => !taken.includes(suit));
    const suit = free[0] ?? taken.shift() ?? "";
    if (suit) taken.push(suit);
    return { id: `${letter}${suit}`, letter, rank, suit, wild: letter === "W" };
  }

  #pool(letter, wild) {
    if ("XD".includes(letter)) return [];
    if (wild.red && letter === "W") return ["h", "d"];
    if (wild.red && letter === wild.rank) return ["s", "c"];
    const turn = (RANKS.indexOf(letter) + this.deal.length) % 4;
    return [..."shcd"].map((_, i) => "shcd"[(i * 3 + turn) % 4]);
  }

  // Cards that lie on the table: by place 0 mine, 1 of the next seat, 2 of the one before.
  played(text, place, wild) {
    const counts = {};
    return read(text).map(({ rank, star }) => {
      if ("XD".includes(rank) && !star) return { rank, suit: "", wild: false, star };
      const own = this.used?.[rank] ?? [];
      const pool = this.#pool(rank, wild);
      const others = pool.filter((suit) => !own.includes(suit));
      const from = place === 0 ? [...own, ...others] : place === 1 ? [...others, ...own] : [...others].reverse().concat(own);
      const n = (counts[rank] = (counts[rank] ?? -1) + 1);
      return { rank, suit: star ? "" : from[n % Math.max(from.length, 1)] ?? "", wild: false, star };
    });
  }

  // Cards of a hand or of the bottom, in which W is a wild card.
  open(text, wild) {
    const counts = {};
    const found = [...text].map((letter) => {
      const n = (counts[letter] = (counts[letter] ?? -1) + 1);
      const rank = letter === "W" ? wild.rank : letter;
      const pool = this.#pool(letter, wild);
      return { rank, suit: pool[n % Math.max(pool.length, 1)] ?? "", wild: letter === "W" || (wild.jokers && "XD".includes(letter)) };
    });
    return found.sort((a, b) => (b.wild - a.wild) || RANKS.indexOf(b.rank) - RANKS.indexOf(a.rank));
  }
}

export function row(cards, kind, name, lang) {
  const text = cards.map((card) => spoken(card.rank, lang) + (card.star ? "*" : "")).join(" ");
  return el("div", { class: `cards ${kind}`, role: "img", "aria-label": `${name}: ${text || "–"}` },
    ...cards.map((card) => el("span", { class: "card" }, cardSvg(card))));
}
