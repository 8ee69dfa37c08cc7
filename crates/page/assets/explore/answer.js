// The answer: curves, table and verdict.

let shown = null;
let measured = null;

function show(answer) {
    shown = answer;
    byId("summary").textContent = answer.summary;
    byId("notes").replaceChildren(...answer.notes.map(note => html("p", { class: "faint" }, note)));
    byId("verdict").textContent = "";
    byId("numbers").replaceChildren(table(answer.table, "Response time of each way of measuring"));
    drawCurves();
    drawRequests();
}

const verdictText = (begin, { state, reasons }) => [`${begin} ${state}.`, ...reasons].join(" ");

/** The simulated curves, and the measured ones that belong to the same settings. */
function drawCurves() {
    if (!shown) return;
    const runs = [...shown.curves, ...(measuredFits() ? measured.loops.map(loop => loop.curve) : [])];
    percentiles(byId("curves"), runs, { roles: runs.map(run => run.role) });
}

function table({ heads, rows }, caption) {
    const head = html("tr", {}, ...heads.map(text => html("th", { scope: "col" }, text || "percentile")));
    const body = rows.map(([name, ...cells]) => html("tr", {}, html("th", { scope: "row" }, name), ...cells.map(cell => html("td", {}, cell))));
    return html("table", { class: "numbers" }, html("caption", {}, caption), html("thead", {}, head), html("tbody", {}, ...body));
}
