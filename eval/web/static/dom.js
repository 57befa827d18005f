// Elements, the person's choices of language, look and pace, and what is kept between visits.

const SVG = new Set(["svg", "g", "path", "rect", "text", "circle"]);

export function el(tag, attributes = {}, ...children) {
  const made = SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function kept(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(`ddz.${name}`)) ?? fallback;
  } catch {
    return fallback; // storage switched off, or written by something else
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(`ddz.${name}`, JSON.stringify(value));
  } catch {
    // Without storage the choice holds until the page is left.
  }
}

// What was drawn anew loses the focus: this draws and gives it back to what has the same id.
export function redraw(place, ...children) {
  const held = place.contains(document.activeElement) ? document.activeElement.id : "";
  place.replaceChildren(...children.flat().filter(Boolean));
  if (held) document.getElementById(held)?.focus({ preventScroll: true });
}

export const me = {
  lang: kept("lang", (navigator.language || "en").startsWith("zh") ? "zh" : "en"),
  theme: kept("theme", "auto"),
  pace: kept("pace", "normal"),
};

export function setMine(name, value) {
  me[name] = value;
  keep(name, value);
}

export const PACES = { slow: 1200, normal: 650, instant: 0 };
export const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });
