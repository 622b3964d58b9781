// Lists with boxes to tick: count what is chosen, and tick a range with the shift key. Without it the forms work as well.
"use strict";
for (const form of document.querySelectorAll("form[data-list]")) {
  const boxes = [...(form.dataset.outside ? document.querySelectorAll(`input[name=key][form="${form.dataset.outside}"]`) : form.querySelectorAll("input[name=key]"))];
  const chosen = form.querySelector("[data-chosen]");
  const all = form.querySelector("input[name=all]");
  let last = null;
  const count = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    if (chosen) chosen.textContent = all && all.checked ? "" : `${ticked} ticked`;
  };
  boxes.forEach((box, index) => box.addEventListener("click", (event) => {
    if (event.shiftKey && last !== null) {
      const [from, to] = [Math.min(last, index), Math.max(last, index)];
      boxes.slice(from, to + 1).forEach((each) => { each.checked = box.checked; });
    }
    last = index;
    count();
  }));
  form.addEventListener("change", count);
  form.addEventListener("click", count);
  count();
}
