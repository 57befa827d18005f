// The person's hand: selected by click, by drawing over the cards, or by keys.
import { el, me } from "./dom.js";
import { cardSvg, read, spoken } from "./cards.js";
import { say } from "./words.js";

export class Hand {
  constructor(onchange) {
    this.onchange = onchange;
    this.cards = [];
    this.chosen = new Set();
    this.at = 0; // the card that the keyboard is at
    this.box = el("div", { class: "hand", role: "group", id: "hand" });
    this.box.addEventListener("pointerdown", (event) => this.#down(event));
    this.box.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) this.box.addEventListener(end, () => { this.drawing = null; });
    // A click by the pointer has been dealt with; one without is a key or a screen reader's.
    this.box.addEventListener("click", (event) => {
      if (event.detail === 0) this.#toggle(this.#cardOf(event.target));
    });
  }

  set(cards) {
    this.cards = [...cards];
    const ids = new Set(cards.map((card) => card.id));
    this.chosen = new Set([...this.chosen].filter((id) => ids.has(id)));
    this.at = Math.min(this.at, Math.max(cards.length - 1, 0));
    this.draw();
  }

  draw() {
    const held = this.box.contains(document.activeElement);
    this.box.setAttribute("aria-label", say("hand"));
    // Two rows on a phone, so that each card can be hit.
    const rows = innerWidth < 700 && this.cards.length > 10 ? 2 : 1;
    const per = Math.ceil(this.cards.length / rows);
    const button = (card, i) => el("button", {
      type: "button", class: "card", id: `card-${card.id}`, "data-i": i, tabindex: i === this.at ? 0 : -1,
      "aria-pressed": String(this.chosen.has(card.id)),
      "aria-label": spoken(card.rank, me.lang) + (card.wild ? `, ${say("wild")}` : ""),
    }, cardSvg(card));
    const made = this.cards.map(button);
    this.box.replaceChildren(...Array.from({ length: rows }, (_, k) =>
      el("div", { class: "cards mine" }, ...made.slice(k * per, (k + 1) * per))));
    if (!this.cards.length) this.box.replaceChildren(el("p", { class: "soft" }, say("nohand")));
    if (held) this.#focus();
  }

  // Letters of the selected cards, as the server takes them.
  get letters() {
    return this.cards.filter((card) => this.chosen.has(card.id)).map((card) => card.letter).join("");
  }

  clear() {
    this.chosen.clear();
    this.#show();
  }

  // Select the cards of a play; wild ones where it has stars.
  take(text) {
    this.chosen.clear();
    const jokers = !this.cards.some((card) => card.letter === "W");
    for (const { rank, star } of read(text)) {
      const fits = (card) => (star ? (jokers ? card.wild : card.letter === "W") : card.letter === rank);
      // The small joker is spent first, which lies behind the big one.
      const free = this.cards.filter((card) => fits(card) && !this.chosen.has(card.id));
      const card = star ? free[free.length - 1] : free[0];
      if (card) this.chosen.add(card.id);
    }
    this.#show();
  }

  // One more card of a rank; none of it when all are selected.
  more(letter) {
    const fits = this.cards.filter((card) => card.letter === letter || (letter === "W" && card.wild));
    if (!fits.length) return;
    const free = fits.find((card) => !this.chosen.has(card.id));
    if (free) this.chosen.add(free.id);
    else for (const card of fits) this.chosen.delete(card.id);
    this.#show();
  }

  step(by) {
    this.at = Math.max(0, Math.min(this.cards.length - 1, this.at + by));
    this.#focus();
  }

  #focus() {
    for (const one of this.box.querySelectorAll("button")) one.tabIndex = Number(one.dataset.i) === this.at ? 0 : -1;
    this.box.querySelector(`[data-i="${this.at}"]`)?.focus();
  }

  #show() {
    for (const one of this.box.querySelectorAll("button")) {
      const card = this.cards[Number(one.dataset.i)];
      one.setAttribute("aria-pressed", String(this.chosen.has(card.id)));
    }
    this.onchange();
  }

  #cardOf(target) {
    const button = target?.closest?.(".hand button");
    return button ? this.cards[Number(button.dataset.i)] : null;
  }

  #toggle(card, on) {
    if (!card) return;
    const select = on ?? !this.chosen.has(card.id);
    if (select === this.chosen.has(card.id)) return;
    this.chosen[select ? "add" : "delete"](card.id);
    this.at = this.cards.indexOf(card);
    this.#show();
  }

  #down(event) {
    const card = this.#cardOf(event.target);
    if (!card || event.button !== 0) return;
    this.drawing = !this.chosen.has(card.id);
    this.#toggle(card, this.drawing);
  }

  #move(event) {
    if (this.drawing === null || this.drawing === undefined || !event.buttons) return;
    this.#toggle(this.#cardOf(document.elementFromPoint(event.clientX, event.clientY)), this.drawing);
  }
}
