// The page: its head, and either the choice of a table or the table that the address names.
import { el, me, setMine } from "./dom.js";
import { drawLobby, fetchOptions, forget } from "./lobby.js";
import { TableView } from "./table.js";
import { say } from "./words.js";

const head = document.getElementById("head"), app = document.getElementById("app"), live = document.getElementById("live");
let table = null, options = null;

function applyTheme() {
  document.documentElement.dataset.theme = me.theme;
}

function drawHead() {
  document.documentElement.lang = me.lang === "zh" ? "zh-CN" : "en";
  const lang = (value, text) => el("button", { type: "button", id: `lang-${value}`, lang: value, "aria-pressed": String(me.lang === value),
    onclick: () => { setMine("lang", value); drawHead(); if (table) table.redraw(); else drawPage(); } }, text);
  const theme = el("select", { id: "theme", "aria-label": say("theme"), onchange: () => { setMine("theme", theme.value); applyTheme(); } },
    ...["auto", "light", "dark"].map((value) => el("option", { value, selected: value === me.theme }, say(value))));
  const held = document.activeElement?.id;
  head.replaceChildren(
    el("h1", {}, el("a", { href: "#" }, me.lang === "zh" ? "斗地主" : "Dou Dizhu")),
    el("div", { class: "tools" },
      el("div", { class: "langs", role: "group", "aria-label": say("language") }, lang("en", "English"), lang("zh", "中文")), theme));
  if (held) document.getElementById(held)?.focus();
}

async function drawPage() {
  table?.close();
  table = null;
  const token = location.hash.slice(1);
  if (token) {
    table = new TableView(token, app, { live, onlobby: () => { location.hash = ""; }, ongone: () => {
      forget(token);
      table?.close();
      table = null;
      app.replaceChildren(el("p", { class: "notice" }, say("gone")), el("p", {}, el("a", { href: "#", id: "to-lobby" }, say("lobby"))));
    } });
    return;
  }
  document.title = say("title");
  options ??= await fetchOptions();
  if (!location.hash.slice(1)) app.replaceChildren(drawLobby(options, (made) => { location.hash = made; }));
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || ["SELECT", "INPUT"].includes(event.target.tagName)) return;
  if (table?.key(event)) event.preventDefault();
});
addEventListener("hashchange", drawPage);
applyTheme();
drawHead();
drawPage();
