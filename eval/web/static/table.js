// One table: shows what the server tells, step by step, and sends what the person decides.
import { el, me, PACES, redraw, wait } from "./dom.js";
import { Suits } from "./cards.js";
import { Hand } from "./hand.js";
import { Connection } from "./net.js";
import { eventText, result, seat, side, strip, wildOf } from "./seats.js";
import { cardsText, keyRows, say } from "./words.js";

export class TableView {
  constructor(token, place, { ongone, onlobby, live }) {
    Object.assign(this, { token, place, onlobby, live });
    this.state = null;
    this.hints = null;
    this.tried = null;
    this.exact = ""; // the play of a hint, as the server is to take it
    this.busy = false;
    this.turn = 0; // of what is shown: a newer state ends the showing of an older one
    this.suits = new Suits();
    this.hand = new Hand(() => this.#selected());
    this.#frame();
    this.net = new Connection(token, {
      onmessage: (message) => this.#take(message),
      onlost: () => { this.notice.textContent = say("lost"); },
      ongone,
    });
    this.clock = setInterval(() => this.#tick(), 500);
    this.onresize = () => this.hand.draw();
    addEventListener("resize", this.onresize);
  }

  close() {
    this.turn += 1;
    clearInterval(this.clock);
    removeEventListener("resize", this.onresize);
    this.net.close();
  }

  #frame() {
    this.notice = el("p", { class: "notice", role: "status" });
    this.felt = el("div", { class: "seats" });
    this.ask = el("div", { class: "ask", id: "ask" });
    this.side = el("aside", { class: "side" });
    this.left = el("span", { class: "clock", id: "clock" });
    this.box = el("div", { class: "table" },
      el("section", { class: "felt" }, this.felt, this.notice, this.ask, this.hand.box), this.side);
    this.place.replaceChildren(this.box);
  }

  // ---------------------------------------------------------------------------------- messages

  #take(message) {
    if (message.type === "state") this.#newState(message);
    else if (message.type === "told") this.#told(message);
    else if (message.type === "hint" && message.n === this.state?.n) {
      this.hints = message.hints;
      this.busy = false;
      this.#drawSide();
      const best = message.hints[0];
      if (best?.play && best.play !== "pass") this.#choose(best);
      else this.#drawAsk();
      this.#say(best ? `${best.text} ${best.chance === null ? "" : `${(100 * best.chance).toFixed(0)}%`}` : "");
    } else if (message.type === "tried" && message.n === this.state?.n && message.cards === this.hand.letters) {
      this.tried = message;
      this.#drawAsk();
    }
  }

  #told({ kind, lines }) {
    if (kind === "refused") this.busy = false;
    if (lines.length) {
      this.notice.textContent = lines.join(" ");
      this.#say(lines.join(" "));
    }
    if (this.state) this.#drawAsk();
  }

  async #newState(state) {
    const fresh = this.state?.n !== state.n;
    const turn = (this.turn += 1);
    clearTimeout(this.patience);
    this.busy = false;
    this.received = performance.now();
    if (fresh) {
      this.notice.textContent = "";
      this.hints = this.tried = null;
      this.exact = "";
    }
    const gone = new Set(this.hand.chosen), before = this.state;
    this.state = state;
    if (fresh) this.hand.chosen.clear();
    if (me.lang !== state.lang && !before) this.net.send({ type: "lang", lang: me.lang });
    document.title = `${state.room} · ${say("title")}`;
    this.#drawHand(gone);
    if (fresh && before) await this.#showFrames(state, turn);
    if (turn === this.turn) this.#drawAll();
  }

  // What happened since, one decision after another.
  async #showFrames(state, turn) {
    const pace = PACES[me.pace] ?? 650;
    if (!pace || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.showing = true;
    for (const frame of state.frames) {
      const players = frame.players.map((one, i) => ({ ...state.players[i], hand: state.open ? state.players[i].hand : null, score: null, ...one, ...(state.open ? {} : { hand: null }) }));
      this.#drawTable({ ...state, ...frame, players, over: false, bottom: frame.bottom, parts: [] });
      redraw(this.ask, el("p", { class: "prompt soft" }, "…"));
      await wait(pace);
      if (turn !== this.turn) break;
    }
    this.showing = false;
  }

  // ------------------------------------------------------------------------------------ drawing

  #drawHand(gone) {
    const { state } = this, mine = state.players[state.you];
    const text = state.over || mine.hand !== null ? mine.hand ?? "" : "";
    this.hand.set(this.suits.update(`${state.deal}.${state.redeals}`, text, wildOf(state), gone));
  }

  #drawTable(state) {
    const order = [(state.you + 2) % 3, (state.you + 1) % 3, state.you];
    redraw(this.felt, strip(state, this.suits), ...order.map((number) => seat(number, state, this.suits)));
  }

  #drawAll() {
    const { state } = this;
    this.#drawTable(state);
    this.#drawAsk();
    this.#drawSide();
    const texts = state.events.map((event) => eventText(event, state));
    this.#say([...texts, state.over ? state.result : "", state.prompt.text].filter(Boolean).join(". "));
  }

  #drawSide() {
    redraw(this.side, side(this.state, this.hints, (one) => this.#choose(one)));
  }

  redraw() {
    if (!this.state) return;
    this.net.send({ type: "lang", lang: me.lang });
    this.hand.draw();
    this.#drawAll();
  }

  #button(id, text, onclick, options = {}) {
    const { key, primary, disabled } = options;
    return el("button", { type: "button", id, class: primary ? "primary" : null, disabled: disabled || this.busy, onclick,
      "aria-keyshortcuts": key ?? null }, text, key ? el("kbd", { "aria-hidden": "true" }, key) : null);
  }

  #drawAsk() {
    if (this.showing) return;
    const { state } = this, { prompt } = state;
    const main = [];
    if (prompt.kind === "cards") main.push(...this.#cardButtons(prompt));
    else if (prompt.kind === "next") {
      main.push(this.#button("next", say("nextdeal"), () => this.#answer({ type: "next" }), { key: "Enter", primary: true }),
        this.#button("again", say("again"), () => this.#answer({ type: "again" }), { key: "R" }),
        el("a", { class: "button", id: "replay", href: `replay/${this.token}/${state.deal}`, target: "_blank", rel: "noopener" }, say("replay")));
    } else if (prompt.kind === "over") {
      main.push(this.#button("lobby", say("new"), this.onlobby, { primary: true }));
    } else {
      const shown = prompt.options.filter((option) => option.value !== "queen");
      main.push(...shown.map((option, i) => this.#button(`option-${option.value || "other"}`.replace(/[+*]/g, "_"), prompt.kind === "which" ? cardsText(option.text) : option.text,
        () => this.#option(option), { key: option.key.toUpperCase(), primary: i === 0 && prompt.kind !== "leave" })));
    }
    const cards = say(prompt.mustPass ? "ask_pass" : prompt.mayPass ? "ask_reply" : "ask_lead");
    const text = { over: say("left"), cards }[prompt.kind] ?? (prompt.head || prompt.text);
    this.box.classList.toggle("over", state.over);
    redraw(this.ask, prompt.kind === "next" || (prompt.kind === "over" && state.over) ? result(state) : null,
      el("p", { class: "prompt", id: "prompt" }, prompt.kind === "next" ? "" : this.busy ? say("thinking") : text, " ", this.left),
      prompt.kind === "cards" ? el("p", { class: "tried", id: "tried" }, this.#triedText()) : null,
      el("div", { class: "buttons main" }, ...main), prompt.kind === "over" ? null : this.#tools(prompt));
    this.ask.setAttribute("aria-busy", String(this.busy));
  }

  #cardButtons(prompt) {
    const some = this.hand.chosen.size > 0;
    const bad = this.tried && !this.tried.plays.length && !this.exact;
    return [
      this.#button("play", say("play"), () => this.#play(), { key: "Enter", primary: true, disabled: !some || bad }),
      this.#button("pass", say("pass"), () => this.#answer({ type: "answer", line: "pass" }), { key: "P", disabled: !prompt.mayPass }),
      this.#button("clear", say("clear"), () => this.#clear(), { key: "Esc", disabled: !some }),
    ];
  }

  #tools(prompt) {
    const { state } = this;
    const asked = !["next", "leave"].includes(prompt.kind);
    return el("div", { class: "buttons tools" },
      this.#button("hint", say("hint"), () => this.#hint(), { key: "H", disabled: !asked }),
      this.#button("back", say("back"), () => this.#answer({ type: "back" }), { key: "U", disabled: !state.back || prompt.kind === "leave" }),
      el("button", { type: "button", id: "auto", "aria-pressed": String(state.auto), onclick: () => this.net.send({ type: "auto", on: !state.auto }) }, say("autoplay")),
      this.#button("leave", say("leave"), () => this.#answer({ type: "leave" }), { disabled: prompt.kind === "leave" }),
      el("button", { type: "button", id: "help", onclick: () => this.#help() }, say("help")));
  }

  #triedText() {
    if (this.exact) return cardsText(this.exact);
    if (!this.tried || !this.hand.chosen.size) return "";
    const { plays, why } = this.tried;
    return plays.length ? plays.map(({ text, name }) => `${cardsText(text)} · ${name}`).join(" / ") : why;
  }

  // ------------------------------------------------------------------------------------ choices

  #selected() {
    this.tried = null;
    this.exact = "";
    this.notice.textContent = "";
    if (!this.state || this.state.prompt.kind !== "cards") return;
    clearTimeout(this.trying);
    const cards = this.hand.letters;
    if (cards) this.trying = setTimeout(() => this.net.send({ type: "try", n: this.state.n, cards }), 120);
    this.#drawAsk();
  }

  #choose(one) {
    if (one.play === "pass") return;
    this.hand.take(one.play);
    this.exact = one.play;
    this.#drawAsk();
  }

  #clear() {
    this.hand.clear();
  }

  #play() {
    const line = this.exact || this.hand.letters;
    if (line) this.#answer({ type: "answer", line });
  }

  #option(option) {
    const line = this.state.prompt.kind === "choice" ? option.value : option.key;
    this.#answer({ type: "answer", line });
  }

  #hint() {
    this.#answer({ type: "hint" });
  }

  #answer(message) {
    if (this.busy || !this.state || this.showing) return;
    this.busy = this.net.send({ ...message, n: this.state.n });
    this.ask.setAttribute("aria-busy", String(this.busy));
    clearTimeout(this.patience);
    this.patience = setTimeout(() => { if (this.busy) this.#drawAsk(); }, 250);
  }

  #say(text) {
    this.live.textContent = text;
  }

  #tick() {
    const { state } = this;
    const counts = state && state.limit !== null && !state.over && !state.done;
    const seconds = counts ? Math.max(0, state.limit - (performance.now() - this.received) / 1000) : 0;
    this.left.textContent = counts ? `⏱ ${say("time", { n: Math.ceil(seconds) })}` : "";
  }

  #help() {
    const dialog = el("dialog", { class: "help", "aria-label": say("help"), onclose: () => dialog.remove() },
      el("h2", {}, say("help")),
      el("table", {}, el("tbody", {}, ...keyRows().map(([keys, text]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, keys)), el("td", {}, text))))),
      el("form", { method: "dialog" }, el("button", { class: "primary" }, "OK")));
    this.box.append(dialog);
    dialog.showModal();
  }

  // --------------------------------------------------------------------------------------- keys

  key(event) {
    const { state } = this;
    if (!state || this.showing || document.querySelector("dialog[open]")) return false;
    const { key } = event, up = key.toUpperCase(), { prompt } = state;
    const press = (id) => { const one = document.getElementById(id); if (one && !one.disabled) one.click(); return true; };
    if (key === "?") { this.#help(); return true; }
    if (key === "ArrowLeft" || key === "ArrowRight") { this.hand.step(key === "ArrowLeft" ? -1 : 1); return true; }
    if (up === "H") return press("hint");
    if (up === "U") return press("back");
    const onHand = this.hand.box.contains(event.target) || event.target === document.body;
    if (prompt.kind === "next") return up === "R" ? press("again") : key === "Enter" && onHand && press("next");
    if (prompt.kind === "cards") {
      if (key === "Enter") return onHand && press(prompt.mustPass && !this.hand.chosen.size ? "pass" : "play");
      if (key === "Escape") return press("clear");
      if (up === "P") return press("pass");
      const letter = { 1: "T", 0: "T" }[key] ?? up;
      if (letter.length === 1 && "3456789TJQKA2XDW".includes(letter)) { this.hand.more(letter); return true; }
      return false;
    }
    const option = prompt.options.find((one) => one.key.toUpperCase() === up);
    if (option) this.#option(option);
    return Boolean(option);
  }
}
