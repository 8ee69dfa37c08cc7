// What the other files of this page use. Pictures are read and zoomed by the script of all pages.

const { token, presets } = JSON.parse(document.getElementById("explore-data").textContent);
const { html } = truetail;
const byId = id => document.getElementById(id);
