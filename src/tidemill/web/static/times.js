// Moments in the reader's own zone, ages that grow while one looks, and parts of a page that keep themselves up to date.
// Without it every page says the same, as of when it was loaded, and names moments in UTC.
"use strict";
(() => {
  const REFRESH_MS = 10_000, AGE_MS = 5_000;
  const IDLE_MS = 600_000; // an open page that nobody looks at asks for nothing, so that its session can end
  const ahead = Date.now() - Date.parse(document.body.dataset.now);
  const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
  const dated = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const UNITS = [[86_400, "d"], [3_600, "h"], [60, "min"]];

  const span = (seconds) => {
    const [size, unit] = UNITS.find(([each]) => seconds >= each) || [1, "s"];
    return `${Math.floor(seconds / size)} ${unit}`;
  };
  const show = (root) => {
    const now = Date.now() - ahead;
    for (const element of root.querySelectorAll("time[data-age], time[data-stamp]")) {
      const moment = new Date(element.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      element.title = whole.format(moment);
      if ("age" in element.dataset) {
        const seconds = (now - moment.getTime()) / 1000;
        const words = seconds >= 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
        if (element.textContent !== words) element.textContent = words;
      } else {
        const today = moment.toDateString() === new Date().toDateString();
        element.textContent = (today ? clock : dated).format(moment);
      }
    }
  };

  let active = Date.now();
  for (const kind of ["pointermove", "keydown", "scroll", "focus"]) {
    addEventListener(kind, () => { active = Date.now(); }, { passive: true, capture: true });
  }
  const isInUse = (part) =>
    part.contains(document.activeElement) || part.querySelector("details[open]") || !getSelection().isCollapsed;
  const note = document.querySelector("[data-live-note]");
  const parts = () => document.querySelectorAll("[data-live][id]");
  const refresh = async () => {
    if (document.hidden || Date.now() - active > IDLE_MS) return;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
      if (!answer.ok) throw new Error(answer.status);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      show(fresh);
      for (const part of parts()) {
        const newer = fresh.getElementById(part.id);
        if (newer && !isInUse(part) && newer.innerHTML !== part.innerHTML) part.replaceWith(document.adoptNode(newer));
      }
      if (note) note.textContent = "";
    } catch {
      if (note) note.textContent = "Not connected: this is how things stood at the time below. ";
    }
  };

  show(document);
  setInterval(() => show(document), AGE_MS);
  if (parts().length) setInterval(refresh, REFRESH_MS);
})();
