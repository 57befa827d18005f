// The choice of a new table, and the way back to those that are open.
import { el, me, setMine, PACES, kept, keep } from "./dom.js";
import { row } from "./cards.js";
import { say } from "./words.js";

const LEVEL_WORDS = { normal: "normal_level" };

export async function fetchOptions() {
  const answer = await fetch("api/options");
  return answer.json();
}

export function remember(token, room) {
  keep("tables", [...kept("tables", []).filter(([old]) => old !== token).slice(-19), [token, room]]);
}
export function forget(token) {
  keep("tables", kept("tables", []).filter(([old]) => old !== token));
}

function playerName(name, options) {
  if (name === "best" || name in options.levels) return say(LEVEL_WORDS[name] ?? name);
  return name;
}

function field(id, label, control) {
  return el("div", { class: "field" }, el("label", { for: id }, label), control);
}

function select(id, choices, chosen) {
  return el("select", { id, name: id }, ...choices.map(([value, text]) =>
    el("option", { value, selected: String(value) === String(chosen) }, text)));
}

function players(id, options, chosen) {
  const option = (name) => el("option", { value: name, selected: name === chosen }, playerName(name, options));
  const levels = options.players.filter((name) => name === "best" || name in options.levels);
  const agents = options.players.filter((name) => !levels.includes(name));
  return el("select", { id, name: id },
    el("optgroup", { label: say("levels") }, ...levels.map(option)),
    el("optgroup", { label: say("agents") }, ...agents.map(option)));
}

// The page of choices; `onopen` gets the token of the table that was opened.
export function drawLobby(options, onopen) {
  const chosen = { ...options.chosen, ...kept("wish", {}) };
  const described = (room) => { const text = say(room); return text === room ? room : `${room} — ${text}`; };
  const error = el("p", { class: "bad", role: "alert", id: "error" });
  const start = el("button", { type: "submit", id: "start", class: "primary" }, say("start"));
  const form = el("form", { id: "wish", onsubmit: async (event) => {
    event.preventDefault();
    const value = (id) => document.getElementById(id).value;
    const wish = { rules: value("rules"), next: value("after"), previous: value("before"),
      seat: value("seat"), limit: Number(value("limit")) };
    keep("wish", wish);
    setMine("pace", value("pace"));
    start.disabled = true;
    error.textContent = "";
    try {
      const answer = await fetch("api/tables", { method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...wish, lang: me.lang, open: document.getElementById("open").checked }) });
      const made = await answer.json();
      if (!answer.ok) throw new Error(made.error);
      remember(made.token, wish.rules);
      onopen(made.token);
    } catch (problem) {
      error.textContent = problem.message;
      start.disabled = false;
    }
  } },
    el("h2", {}, say("new")), el("p", { class: "dim" }, say("lead")),
    field("rules", say("room"), select("rules", options.rooms.map((room) => [room, described(room)]), chosen.rules)),
    field("after", say("next"), players("after", options, chosen.next)),
    field("before", say("previous"), players("before", options, chosen.previous)),
    field("seat", say("seat"), select("seat", options.seats.map((seat) => [seat, say(seat)]), chosen.seat)),
    field("limit", say("limit"), select("limit", options.limits.map((n) => [n, n ? say("seconds", { n }) : say("none")]), chosen.limit ?? 0)),
    field("pace", say("pace"), select("pace", Object.keys(PACES).map((pace) => [pace, say(pace)]), me.pace)),
    el("div", { class: "field check" }, el("input", { type: "checkbox", id: "open" }), el("label", { for: "open" }, say("open"))),
    start, error);
  const tables = kept("tables", []);
  const fan = [["D", ""], ["2", "s"], ["A", "h"], ["K", "c"], ["T", "d"], ["7", "h"], ["3", "s"]];
  const about = el("section", { class: "panel about" }, el("h2", {}, say("how")),
    row(fan.map(([rank, suit]) => ({ rank, suit, wild: rank === "7" })), "fan", say("title"), me.lang),
    ...["how1", "how2", "how3"].map((key) => el("p", {}, say(key))));
  return el("div", { class: "lobby" }, form, el("div", {}, about,
    tables.length ? el("section", { class: "panel", id: "tables" }, el("h2", {}, say("tables")),
      el("ul", {}, ...tables.map(([token, room], i) => el("li", {}, el("a", { href: `#${token}` }, `${i + 1}: ${room}`))))) : null));
}
