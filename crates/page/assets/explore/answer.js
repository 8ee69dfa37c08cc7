// The answer: curves, table and verdict.

let measured = null;

function show(answer) {
    byId("summary").textContent = answer.summary;
    byId("notes").replaceChildren(...answer.notes.map(note => html("p", { class: "faint" }, note)));
    byId("verdict").textContent = "";
    byId("numbers").replaceChildren(table(answer.table, "Response time of each way of measuring"));
    picture(byId("curves"), answer.curves);
    picture(byId("requests"), answer.timeline?.picture ?? "");
    byId("requests-table").replaceChildren(...answer.timeline ? [table(answer.timeline.table, "Requests by time")] : []);
}

const verdictText = (begin, { state, reasons }) => [`${begin} ${state}.`, ...reasons].join(" ");

/** Shows a picture that truetail drew. */
function picture(figure, inner) {
    figure.querySelector(".picture").innerHTML = inner;
    truetail.show(figure);
}

function table({ heads, rows }, caption) {
    const head = html("tr", {}, ...heads.map(text => html("th", { scope: "col" }, text || "percentile")));
    const body = rows.map(([name, ...cells]) => html("tr", {}, html("th", { scope: "row" }, name), ...cells.map(cell => html("td", {}, cell))));
    return html("table", { class: "numbers" }, html("caption", {}, caption), html("thead", {}, head), html("tbody", {}, ...body));
}
