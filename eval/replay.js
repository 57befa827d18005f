"use strict";
// Draws the deals of the JSON in #data. A place is a deal and a decision: the table stands as it
// was before that decision, and the cards that it takes are lifted; the last place is the end.
const data = JSON.parse(document.getElementById("data").textContent);
const RANKS = "3456789TJQKA2XD", SUITS = { s: "♠", h: "♥", c: "♣", d: "♦" };
const NAMES = { X: "☆", D: "★", T: "10" };
const at = { deal: 0, step: 0, lang: data.lang };

// ------------------------------------------------------------------------------------- pieces

function el(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "circle", "rect", "text"].includes(tag);
  const made = svg
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}
const say = (key) => data.words[at.lang].terms[key] ?? key;
const seatName = (seat) => data.words[at.lang].seats[seat];
const rankName = (letter) => NAMES[letter] ?? letter;
const percent = (share) => `${(100 * share).toFixed(1)}%`;
const signed = (points) => (points > 0 ? "+" : points < 0 ? "−" : "") + Math.abs(points);
const deal = () => data.deals[at.deal];
const step = () => deal().steps[at.step];
const roleOf = (seat) => deal().roles[seat];

function choiceText(text) {
  const known = data.words[at.lang].choices[text];
  // "789 10 JQ": a ten takes two digits, so it stands apart.
  return known ?? text.replace(/T/g, " 10 ").replace(/ +/g, " ").replace(/ ?([+*]) ?/g, "$1").trim()
    .replace(/[XD]/g, rankName);
}
function stepText(one) {
  return choiceText(one.p !== "play" && one.t === "pass" ? "no" : one.t);
}
function decisionText(one) {
  const text = stepText(one);
  if (one.p !== "play") return `${data.words[at.lang].phases[one.p]}: ${seatName(one.s)} ${text}`;
  if (!one.c.length) return `${seatName(one.s)} ${say("passes")}`;
  return `${seatName(one.s)} ${say(one.b === null ? "leads" : "plays")} ${text}`;
}

function card(code, wild, options = {}) {
  const [own, stands] = code.split("=");
  const rank = stands ?? own[0], suit = SUITS[own[1]] ?? "";
  const red = "hd".includes(own[1] ?? "-") || own === "D";
  const classes = ["card", red && "red", wild && "wild", options.lifted && "lifted",
    "XD".includes(own) && !stands && "joker"].filter(Boolean).join(" ");
  const marks = suit || (stands ? "*" : "");
  return el("span", { class: classes },
    el("span", { class: "face" },
      el("b", { class: rank === "T" ? "ten" : false }, rankName(rank)), el("i", {}, marks),
      el("em", {}, suit || (stands ? "*" : "JOKER"))));
}
function cards(codes, name, kind, options = {}) {
  const wilds = new Set(options.wild ? deal().wilds : []);
  const lifted = new Set(options.lifted ?? []);
  const spoken = codes.map((c) => rankName(c.split("=")[1] ?? c[0])).join(" ");
  return el("div", { class: `cards ${kind}`, role: "img", "aria-label": `${name}: ${spoken || "–"}` },
    ...codes.map((c) => card(c, wilds.has(c.split("=")[0]), { lifted: lifted.has(c) })));
}

// -------------------------------------------------------------------------------------- table

function handOf(seat) {
  const end = at.step >= deal().steps.length, now = step();
  const hand = [...deal().hands[seat]];
  if (seat === deal().landlord && (end || now.d)) hand.push(...deal().bottom);
  const gone = new Set();
  for (const one of deal().steps.slice(0, at.step)) {
    for (const code of one.c) gone.add(code.split("=")[0]);
  }
  const wilds = new Set(wildKnown() ? deal().wilds : []);
  const order = (c) => (wilds.has(c) ? -100 : 0) - RANKS.indexOf(c[0]) + "shcd".indexOf(c[1]) / 8;
  return hand.filter((c) => !gone.has(c)).sort((a, b) => order(a) - order(b));
}
const wildKnown = () => step()?.w ?? Boolean(deal().wild);

function lastOf(seat) {
  const now = step(), wild = wildKnown();
  const mine = now && now.s === seat;
  if (mine) return el("span", { class: "pill now" }, stepText(now));
  const number = (now ? now.l : deal().end)[seat];
  if (number === null) return null;
  const one = deal().steps[number];
  const stands = now ? now.b === seat : deal().winner === seat;
  if (!one.c.length) return el("span", { class: "pill" }, stepText(one));
  return cards(one.c, `${seatName(seat)} ${say("plays")}`, stands ? "play stands" : "play", { wild });
}

function seatRow(seat) {
  const now = step(), hand = handOf(seat), role = now && !now.d ? "" : roleOf(seat);
  const taken = now && now.s === seat ? now.c.map((c) => c.split("=")[0]) : [];
  const scores = now ? null : deal().scores;
  const score = scores === null ? null
    : el("b", { class: scores[seat] > 0 ? "won" : "lost" }, signed(scores[seat]));
  return el("div", { class: `seat${now && now.s === seat ? " turn" : ""}` },
    el("div", { class: "who" },
      el("strong", {}, seatName(seat)),
      role ? el("span", { class: `role ${role}` }, say(role)) : null,
      deal().agents[seat] ? el("span", { class: "agent" }, deal().agents[seat]) : null,
      el("span", { class: "left" }, `${hand.length} ${say("cards")}`), score),
    cards(hand, `${seatName(seat)}, ${say("open hand")}`, "hand", { wild: wildKnown(), lifted: taken }),
    el("div", { class: "last" }, lastOf(seat)));
}

function drawTable() {
  const now = step(), wild = wildKnown() && deal().wild;
  const name = { jokers: say("jokers"), "7r": say("red 7") }[wild] ?? rankName(wild || "");
  const multiplier = now ? now.m : deal().parts.slice(1).reduce((a, part) => a * part[2], 1);
  return el("section", { class: "felt", "aria-label": say("table") },
    el("div", { class: "strip" },
      el("span", {}, say("bottom")), cards(deal().bottom, say("bottom"), "small", { wild }),
      wild ? el("span", { class: "gold" }, `${say("wild")} ${name}`) : null,
      el("span", { class: "times" }, `${say("multiplier")} `, el("b", {}, `×${multiplier}`))),
    ...[0, 1, 2].map(seatRow));
}

// ----------------------------------------------------------------------------------- controls

function go(place) {
  at.step = Math.max(0, Math.min(deal().steps.length, place));
  draw();
}
function drawControls() {
  const n = deal().steps.length;
  const button = (key, sign, place, off) =>
    el("button", { type: "button", id: key, "aria-label": say(key), title: say(key),
      disabled: off, onclick: () => go(place) }, sign);
  const now = step();
  const text = now ? decisionText(now) : resultText();
  const head = now ? `${at.step + 1}/${n}` : say("end");
  return el("nav", { class: "controls", "aria-label": say("slider") },
    el("div", { class: "buttons" },
      button("first", "«", 0, at.step === 0), button("back", "‹", at.step - 1, at.step === 0),
      el("input", { type: "range", id: "slider", min: 0, max: n, value: at.step,
        "aria-label": say("slider"), "aria-valuetext": `${head}: ${text}`,
        oninput: (event) => go(Number(event.target.value)) }),
      button("next", "›", at.step + 1, at.step === n), button("last", "»", n, at.step === n)),
    el("p", { id: "now", "aria-live": "polite" }, el("b", {}, head), ` ${text}`));
}
function resultText() {
  const { scores, winner, landlord } = deal();
  if (scores === null) return say("broken off");
  if (winner === null) return say("void deal");
  const ended = say(winner === landlord ? "landlord wins" : "farmers win");
  return `${ended}: ${seatName(winner)} ${say("went out")}`;
}

// -------------------------------------------------------------------------------------- chart

function drawChart(width) {
  const steps = deal().steps, n = steps.length;
  const height = 190, left = 40, right = 12, top = 10, bottom = 24;
  const x = (i) => left + ((width - left - right) * i) / Math.max(n, 1);
  const y = (share) => top + (height - top - bottom) * (1 - share);
  const valued = steps.map((one, i) => [i, one.v]).filter(([, v]) => v && v.lord);
  const line = (k) => valued.map(([i, v], j) => `${j ? "L" : "M"}${x(i).toFixed(1)} ${y(v.lord[k]).toFixed(1)}`).join("");
  const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": chartText(valued), onclick: (event) => {
      const box = svg.getBoundingClientRect();
      const share = (event.clientX - box.left - left) / (width - left - right);
      go(Math.round(share * n));
    } });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(el("line", { class: share === 0.5 ? "grid half" : "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }));
    if (share * 4 % 2 === 0) svg.append(el("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`));
  }
  const ticks = Math.max(1, Math.ceil(n / Math.max(2, Math.floor(width / 60)) / 5) * 5);
  for (let i = 0; i < n; i += ticks) {
    svg.append(el("text", { x: x(i), y: height - 6, "text-anchor": "middle" }, i + 1));
  }
  svg.append(el("line", { class: "cursor", x1: x(at.step), x2: x(at.step), y1: top, y2: height - bottom }));
  svg.append(el("path", { class: "best", d: line(1) }), el("path", { class: "made", d: line(0) }));
  for (const [i, v] of valued) {
    const kind = v.other ? "dot other" : `dot ${roleOf(steps[i].s)}`;
    svg.append(el("circle", { class: kind, cx: x(i), cy: y(v.lord[0]), r: i === at.step ? 5.5 : v.other ? 4 : 2.6 }));
  }
  return svg;
}
function chartText(valued) {
  if (!valued.length) return say("chances");
  const [first, last] = [valued[0], valued[valued.length - 1]].map(([i, v]) => `${i + 1}: ${percent(v.lord[0])}`);
  return `${say("chances")}: ${first} … ${last}`;
}
function drawChances() {
  const key = (kind, text) => el("span", {}, el("span", { class: `key ${kind}` }), text);
  return el("section", { class: "chances" }, el("h2", {}, say("chances")), el("div", { class: "chart" }),
    el("p", { class: "legend" }, key("made", say("by made")), key("best", say("by best")),
      key("landlord", say("landlord")), key("farmer", say("farmers")), key("other", say("would differ"))),
    el("p", { class: "dim" }, say("about").replace("{agent}", data.agent)));
}

// --------------------------------------------------------------------------------------- lists

function drawValues() {
  const value = step()?.v;
  const head = el("h2", {}, say("values"));
  if (!value) return el("section", { class: "values" }, head, el("p", { class: "dim" }, say("forced")));
  const rows = value.c.map(([text, chance, points], i) => el("tr", { class: i === value.made ? "made" : false },
    el("th", { scope: "row" }, choiceText(text),
      i === value.made ? el("span", { class: "tag" }, say("made")) : null,
      i === 0 ? el("span", { class: "tag model" }, say("model")) : null),
    el("td", { class: "bar" }, el("span", { style: `width:${(100 * chance).toFixed(1)}%` })),
    el("td", {}, percent(chance)), el("td", {}, signed(points.toFixed(2) * 1))));
  return el("section", { class: "values" }, head,
    el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, say("more").replace("{n}", value.legal)),
      el("td", {}), el("th", {}, say("chance")), el("th", {}, say("points")))), el("tbody", {}, ...rows)));
}
function goButton(i, ...content) {
  return el("li", {}, el("button", { type: "button", "data-step": i,
    "aria-current": i === at.step ? "step" : false, onclick: () => go(i) }, el("span", { class: "number" }, i + 1), ...content));
}
function drawOtherwise() {
  const found = deal().steps.map((one, i) => [i, one]).filter(([, one]) => one.v && one.v.other);
  const row = ([i, one]) => {
    const mine = one.v.c[one.v.made], best = one.v.c[0];
    return goButton(i, el("span", { class: "text" }, `${seatName(one.s)} `, el("b", {}, choiceText(one.t)),
      ` ${percent(mine[1])} `, el("span", { class: "dim" }, say("model")), " ",
      el("b", { class: "model" }, choiceText(best[0])), ` ${percent(best[1])}`));
  };
  return el("section", { class: "otherwise" }, el("h2", {}, say("otherwise")),
    found.length ? el("ol", { id: "otherwise" }, ...found.map(row)) : el("p", { class: "dim" }, say("agrees")));
}
function drawAll() {
  return el("section", { class: "all" }, el("h2", {}, say("all")),
    deal().valued ? el("p", { class: "dim" }, say("own chance")) : null,
    el("ol", { id: "all", tabindex: 0, "aria-label": say("all") }, ...deal().steps.map((one, i) => goButton(i,
      el("span", { class: "text" }, decisionText(one)),
      one.v ? el("span", { class: one.v.other ? "share other" : "share" }, percent(one.v.c[one.v.made][1])) : null))));
}
function drawScore() {
  const { parts, scores, doubled, room_factor: factor } = deal();
  const product = parts.reduce((a, part) => a * part[2], 1);
  const terms = parts.map(([name, count, value]) => `${say(name)}${count > 1 ? ` (${count})` : ""} ${value}`);
  return el("section", { class: "result" }, el("h2", {}, say("result")), el("p", {}, resultText()),
    scores === null ? null : el("p", {}, `${terms.join(" × ")} = ${product}`),
    scores === null || factor === 1 ? null : el("p", {}, `${say("room_factor")} × ${factor}`),
    scores === null ? null : el("table", {}, el("tbody", {}, ...scores.map((points, seat) => el("tr", {},
      el("th", { scope: "row" }, seatName(seat)), el("td", { class: "word" }, say(roleOf(seat))),
      el("td", { class: "word" }, doubled[seat] ? `${say("doubled")} × 2` : ""),
      el("td", {}, el("b", { class: points > 0 ? "won" : "lost" }, signed(points))))))));
}

// ---------------------------------------------------------------------------------------- page

function drawHeader() {
  const name = (one, i) => `${data.first + i}: ${one.agents.filter(Boolean).join(", ") || one.room}`;
  const option = (one, i) => el("option", { value: i, selected: i === at.deal }, name(one, i));
  const choose = el("select", { id: "deal", "aria-label": say("choose"),
    onchange: (event) => { at.deal = Number(event.target.value); at.step = 0; draw(); } },
    ...data.deals.map(option));
  const language = (lang, text) => el("button", { type: "button", id: `lang-${lang}`, lang, "aria-pressed": String(lang === at.lang),
    onclick: () => { at.lang = lang; draw(); } }, text);
  const more = data.deals.length < data.total && data.deals.length > 1;
  const { room, seed, redeals } = deal();
  const facts = [room, `${say("key")} ${seed}`, ...(redeals ? [`${say("redeals")} ${redeals}`] : [])];
  return el("header", {},
    el("h1", {}, `${say("replay")} `, el("small", {}, facts.join(" · "))),
    el("div", { class: "tools" }, el("label", {}, `${say("choose")} `, choose, ` / ${data.total}`),
      el("div", { class: "langs", role: "group", "aria-label": say("language") }, language("en", "English"), language("zh", "中文"))),
    more ? el("p", { class: "dim" }, say("limit").replace("{n}", data.total).replace("{most}", data.deals.length)) : null);
}
function draw() {
  const held = document.activeElement?.id, listed = document.activeElement?.dataset?.step;
  const list = document.activeElement?.closest?.("ol")?.id;
  const scroll = document.getElementById("all")?.scrollTop ?? 0;
  document.documentElement.lang = at.lang;
  document.title = `${say("replay")}: ${data.file}`;
  const valued = deal().valued;
  document.getElementById("app").replaceChildren(drawHeader(),
    el("main", { class: valued ? "valued" : "plain" },
      el("div", { class: "main" }, drawTable(), drawControls(), valued ? drawChances() : el("p", { class: "dim" }, say("no values")),
        drawScore()),
      el("div", { class: "side" }, ...(valued ? [drawValues(), drawOtherwise()] : []), drawAll())),
    el("footer", {}, el("p", {}, say("keys")), el("p", {}, say("open"))));
  const chart = document.querySelector(".chart"); // drawn once its width is known
  chart?.append(drawChart(Math.max(260, chart.clientWidth)));
  const all = document.getElementById("all");
  all.scrollTop = scroll;
  const current = all.querySelector("[aria-current]");
  if (current) {
    const top = current.offsetTop;
    if (top < all.scrollTop || top + current.offsetHeight > all.scrollTop + all.clientHeight) all.scrollTop = top - all.clientHeight / 2;
  }
  // What had the focus has been drawn anew: give it back.
  const again = list && listed ? document.querySelector(`#${list} [data-step="${listed}"]`) : held ? document.getElementById(held) : null;
  again?.focus({ preventScroll: true });
}
function fromAddress() {
  // #deal.decision.language, from 1: a link to a place.
  const [number, place, lang] = location.hash.slice(1).split(".");
  if (Number(number) >= 1 && Number(number) <= data.deals.length) at.deal = Number(number) - 1;
  if (data.langs.includes(lang)) at.lang = lang;
  go((Number(place) || 1) - 1);
}
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || ["SELECT", "INPUT"].includes(event.target.tagName)) return;
  const place = { ArrowLeft: at.step - 1, ArrowRight: at.step + 1, Home: 0, End: deal().steps.length }[event.key];
  if (place === undefined) return;
  event.preventDefault();
  go(place);
});
addEventListener("hashchange", fromAddress);
let wide = innerWidth;
addEventListener("resize", () => { if (innerWidth !== wide) { wide = innerWidth; draw(); } });
fromAddress();
