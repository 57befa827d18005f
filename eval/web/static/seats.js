// The table's parts that only show: the strip, the seats, the result, the side.
import { el, me } from "./dom.js";
import { backSvg, row } from "./cards.js";
import { cardsText, exact, say, seatName, signed } from "./words.js";

const PART_WORDS = { room: "roomfactor" };

export const wildOf = (state) => ({
  rank: state.wild.length === 1 ? state.wild : "", jokers: state.jokersWild && state.wild === "jokers", red: state.redWild,
});

export function strip(state, suits) {
  const bottom = state.bottom === null
    ? el("span", { class: "cards small", role: "img", "aria-label": say("bottom") }, ...[0, 1, 2].map(() => el("span", { class: "card" }, backSvg(""))))
    : row(suits.open(state.bottom, wildOf(state)), "small", say("bottom"), me.lang);
  const part = ([name, count, factor]) => `${say(PART_WORDS[name] ?? name)}${count > 1 ? ` (${count})` : ""} ×${factor}`;
  const turned = state.turned && state.phase !== "play" && !state.over
    ? el("span", {}, `${say("turned")} ${state.turned[0] === "T" ? "10" : state.turned[0]} · ${seatName(state.turned[1])}`) : null;
  return el("div", { class: "strip" },
    el("span", { class: "where" }, el("b", {}, state.room), el("span", {}, say("deal", { n: state.deal }))), bottom,
    state.wildText ? el("span", { class: "gold" }, `${say("wild")} ${state.wildText.replace("W = ", "").replace("T", "10")}`) : null,
    turned, state.redeals ? el("span", {}, say("redeals", { n: state.redeals })) : null,
    el("span", { class: "times" }, `${say("base")} ${state.base || "–"}`, el("b", { title: say("multiplier") }, ` ×${state.multiplier}`),
      el("small", {}, state.parts.map(part).join(" · "))));
}

export function lastOf(seat, state, suits) {
  const last = state.players[seat].last;
  if (!last) return null;
  if (last.said) return el("span", { class: "pill" }, last.said);
  const place = (seat - state.you + 3) % 3;
  const kind = state.toBeat === seat || state.over ? "played stands" : "played";
  return row(suits.played(last.play, place, wildOf(state)), kind, `${seatName(seat)}, ${say("lastplay")}`, me.lang);
}

function badge(one) {
  return one.role ? el("span", { class: `role ${one.role}` }, one.roleText) : null;
}

export function seat(number, state, suits) {
  const one = state.players[number], mine = number === state.you;
  const turn = state.turn === number && !state.over;
  const score = one.score === null || one.score === undefined ? null
    : el("b", { class: one.score > 0 ? "won" : "lost" }, signed(one.score));
  const open = (!mine || state.over) && one.hand
    ? row(suits.open(one.hand, wildOf(state)), "open", `${seatName(number)}, ${say("shown")}`, me.lang) : null;
  const where = mine ? "me" : (number - state.you + 3) % 3 === 1 ? "right" : "left";
  return el("section", { class: `seat ${where}${turn ? " turn" : ""}`, id: `seat-${where}`, "aria-label": mine ? say("you") : seatName(number) },
    el("div", { class: "who" },
      mine ? null : el("span", { class: `stock${one.left <= 2 && state.phase === "play" ? " few" : ""}`, role: "img", "aria-label": say("cards", { n: one.left }) }, backSvg(one.left)),
      el("div", { class: "names" },
        el("strong", {}, mine ? say("you") : seatName(number)), badge(one), score,
        el("span", { class: "soft" }, mine ? say("cards", { n: one.left }) : one.name),
        el("span", { class: "soft" }, `${one.beans.toLocaleString("en")} ${say("beans")} · ${one.title}`),
        one.marks.length ? el("span", { class: "soft" }, one.marks.join(", ")) : null)),
    el("div", { class: "last" }, lastOf(number, state, suits)), open);
}

export function result(state) {
  if (!state.over) return null;
  const text = state.won === null ? say("void") : say(state.won ? "won" : "lostdeal");
  const detail = [state.result, state.spring ? say("spring") : ""].filter(Boolean).join(", ");
  const mine = state.players[state.you].score;
  return el("div", { class: `result ${state.won ? "good" : "badly"}` }, el("strong", {}, text),
    mine === null ? null : el("b", {}, signed(mine)), state.won === null ? null : el("span", {}, detail));
}

// ----------------------------------------------------------------------------------------- side

function hints(found, state, onchoose) {
  if (!found) return null;
  const name = el("h2", {}, say("hints", { name: state.helper }));
  const percent = (share) => (share === null ? "" : `${(100 * share).toFixed(1)}%`);
  const text = (one) => (one.play && one.play !== "pass" ? cardsText(one.text) : one.text);
  const rows = found.map((one, i) => el("tr", {},
    el("th", { scope: "row" }, one.play && one.play !== "pass"
      ? el("button", { type: "button", class: "link", id: `hint-${i}`, onclick: () => onchoose(one) }, text(one)) : one.text),
    el("td", { class: "bar" }, one.chance === null ? say("would")
      : el("progress", { max: 1, value: one.chance, "aria-label": say("chance") })),
    el("td", {}, percent(one.chance)), el("td", {}, one.points === null ? "" : exact(one.points))));
  return el("section", { class: "panel hints", id: "hints" }, name, el("table", {},
    el("thead", {}, el("tr", {}, el("td", {}), el("td", {}), el("th", { scope: "col" }, say("chance")), el("th", { scope: "col" }, say("expected")))),
    el("tbody", {}, ...rows)));
}

function ledger(state) {
  if (!state.ledger.length) return null;
  const order = [state.you, (state.you + 1) % 3, (state.you + 2) % 3];
  const head = order.map((seat) => el("th", { scope: "col" }, seat === state.you ? say("you") : seatName(seat)));
  const rows = state.ledger.map(({ deal, beans }) => el("tr", {}, el("th", { scope: "row" }, deal),
    ...order.map((seat) => el("td", { class: beans[seat] > 0 ? "won" : beans[seat] < 0 ? "lost" : "" }, signed(beans[seat])))));
  const sums = el("tr", { class: "sum" }, el("th", { scope: "row" }, say("points")), ...order.map((seat) => el("td", {}, state.players[seat].points.replace("-", "−"))));
  return el("section", { class: "panel" }, el("h2", {}, say("ledger")),
    el("table", { id: "ledger" }, el("thead", {}, el("tr", {}, el("td", {}), ...head)), el("tbody", {}, ...rows, sums)));
}

export const eventText = ({ seat, text }, state) =>
  seat < 0 ? text : `${seat === state.you ? say("you") : seatName(seat)} ${/^[3-9TJQKA2XD+*]+$/.test(text) ? cardsText(text) : text}`;

export function side(state, found, onchoose) {
  const since = state.events.length
    ? el("ol", {}, ...state.events.slice(-12).map((event) => el("li", {}, eventText(event, state)))) : el("p", { class: "dim" }, say("nothing"));
  return [
    hints(found, state, onchoose), ledger(state),
    el("section", { class: "panel" }, el("h2", {}, say("since")), since),
    state.unseen && !state.over ? el("section", { class: "panel" }, el("h2", {}, say("unseen")),
      el("p", { class: "unseen-cards" }, cardsText(state.unseen.match(/(.)\1*/g).join(" ")))) : null,
  ];
}
