"use strict";
// Points say what they are where a pointer or a finger is on them.
const tip = document.getElementById("tip");
function show(event) {
  const of = event.target.closest("[data-tip]");
  tip.hidden = !of;
  if (!of) return;
  tip.textContent = of.dataset.tip;
  const left = Math.min(event.pageX + 12, document.documentElement.clientWidth - tip.offsetWidth - 8);
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = event.pageY + 14 + "px";
}
document.addEventListener("pointermove", show);
document.addEventListener("pointerdown", show);
