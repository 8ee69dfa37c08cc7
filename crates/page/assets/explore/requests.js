// Requests over time, on a canvas: those of the closed loop, and those that it never sent.

const canvas = byId("requests");
const MARGIN = { left: 62, right: 12, top: 10, bottom: 30 };
const HEIGHT = 300;

function drawRequests() {
    const timeline = shown?.timeline;
    const width = canvas.clientWidth;
    if (!timeline || width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = HEIGHT * ratio;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const marks = [...timeline.sent, ...timeline.never_sent];
    const times = marks.map(mark => Math.max(1, mark[1]));
    const [low, high] = [Math.min(...times) / 1.5, Math.max(...times) * 1.5];
    const x = at => MARGIN.left + (at - timeline.from_s) / (timeline.to_s - timeline.from_s) * (width - MARGIN.left - MARGIN.right);
    const y = ns => HEIGHT - MARGIN.bottom - Math.log(Math.max(1, ns) / low) / Math.log(high / low) * (HEIGHT - MARGIN.top - MARGIN.bottom);
    drawStalls(context, timeline, x);
    if (marks.length > 0) drawAxes(context, { width, x, y, low, high, timeline });
    drawGhosts(context, timeline.never_sent, x, y);
    drawSent(context, timeline.sent, x, y);
    canvas.setAttribute("aria-label", spoken(timeline));
    byId("requests-table").replaceChildren(table({
        heads: ["from", "planned", "sent by the closed loop", "never sent"],
        rows: timeline.rows.map(row => [`${plain(row.from_s)} s`, row.planned, row.sent, row.never_sent].map(String)),
    }, "Requests by time"));
}

const plain = value => String(Number(value.toFixed(6)));

function spoken(timeline) {
    const sum = key => timeline.rows.reduce((sum, row) => sum + row[key], 0);
    return `Requests from ${plain(timeline.from_s)} s to ${plain(timeline.to_s)} s: ${sum("planned")} planned, ${sum("sent")} sent by the ` +
        `closed loop, ${sum("never_sent")} never sent. The table below holds the same counts.`;
}

/** The colour that the style sheet gives to a mark of the legend, in the present theme. */
const color = selector => getComputedStyle(document.querySelector(`.timeline .legend ${selector}`)).color;

function drawStalls(context, timeline, x) {
    context.fillStyle = color(".s-pause-server");
    context.globalAlpha = 0.13;
    for (const [from, to] of timeline.stalls) {
        const [left, right] = [x(Math.max(from, timeline.from_s)), x(Math.min(to, timeline.to_s))];
        context.fillRect(left, MARGIN.top, Math.max(1, right - left), HEIGHT - MARGIN.top - MARGIN.bottom);
    }
    context.globalAlpha = 1;
}

function drawAxes(context, { width, x, y, low, high, timeline }) {
    const faint = getComputedStyle(byId("about")).color;
    Object.assign(context, { font: `12px ${getComputedStyle(document.body).fontFamily}`, fillStyle: faint, strokeStyle: faint, lineWidth: 0.5 });
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const at of ticks.log(low, high)) {
        context.globalAlpha = 0.35;
        line(context, MARGIN.left, y(at), width - MARGIN.right, y(at));
        context.globalAlpha = 1;
        context.fillText(figures.roundTime(at), MARGIN.left - 6, y(at));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const at of ticks.linear(timeline.from_s, timeline.to_s, width < 500 ? 4 : 8)) {
        line(context, x(at), HEIGHT - MARGIN.bottom, x(at), HEIGHT - MARGIN.bottom + 4);
        context.fillText(`${plain(at)} s`, x(at), HEIGHT - MARGIN.bottom + 8);
    }
}

function line(context, x1, y1, x2, y2) {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
}

function drawGhosts(context, marks, x, y) {
    Object.assign(context, { strokeStyle: color(".s-open"), lineWidth: 1.2, globalAlpha: 0.75 });
    context.beginPath();
    for (const [at, ns, answered] of marks) {
        if (!answered) { cross(context, x(at), y(ns)); continue; }
        context.moveTo(x(at) + 3, y(ns));
        context.arc(x(at), y(ns), 3, 0, 2 * Math.PI);
    }
    context.stroke();
    context.globalAlpha = 1;
}

function drawSent(context, marks, x, y) {
    Object.assign(context, { fillStyle: color(".s-closed"), strokeStyle: color(".s-closed"), lineWidth: 1.5 });
    context.beginPath();
    for (const [at, ns, answered] of marks) {
        if (!answered) continue;
        context.moveTo(x(at) + 2.4, y(ns));
        context.arc(x(at), y(ns), 2.4, 0, 2 * Math.PI);
    }
    context.fill();
    context.beginPath();
    marks.filter(mark => !mark[2]).forEach(([at, ns]) => cross(context, x(at), y(ns)));
    context.stroke();
}

function cross(context, x, y) {
    context.moveTo(x - 3, y - 3);
    context.lineTo(x + 3, y + 3);
    context.moveTo(x - 3, y + 3);
    context.lineTo(x + 3, y - 3);
}

new ResizeObserver(() => drawRequests()).observe(canvas.parentElement);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawRequests);
new MutationObserver(drawRequests).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
