// What the other files of this page use. Pictures, figures and ticks are those of the script of all pages.

const { token, presets } = JSON.parse(document.getElementById("explore-data").textContent);
const { figures, html, percentiles, ticks } = truetail;
const byId = id => document.getElementById(id);
