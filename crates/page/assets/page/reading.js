// Pointer and keys: the cursor, and the stretch to zoom into.

function listen(chart, plot, n) {
    const place = event => {
        const box = plot.getBoundingClientRect();
        const { from, to } = chart.view;
        const part = (event.clientX - box.left - MARGIN.left) / chart.innerWidth;
        return from + (to - from) * Math.min(1, Math.max(0, part));
    };
    let [start, startX] = [null, 0];
    plot.addEventListener("pointerdown", event => {
        if (event.button !== 0) return;
        [start, startX] = [place(event), event.clientX];
        plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener("pointermove", event => {
        const { range: [low, high], height } = chart.panels[n];
        const py = event.clientY - plot.getBoundingClientRect().top;
        chart.under = { n, place: low + (high - low) * (1 - (py - MARGIN.top) / height) };
        chart.view.point(chart.view.nearest(place(event)));
        chart.under = null;
        if (start !== null) brush(chart, start, place(event));
    });
    const end = event => {
        const isDrag = start !== null && Math.abs(event.clientX - startX) > 5;
        brush(chart, null);
        if (isDrag && event.type === "pointerup") chart.view.zoom(start, place(event));
        start = null;
    };
    plot.addEventListener("pointerup", end);
    plot.addEventListener("pointercancel", end);
    plot.addEventListener("pointerleave", () => document.activeElement === chart.bar || chart.view.point(null));
    plot.addEventListener("dblclick", () => chart.view.reset());
}

/** What a layer is at a stop; of a heat map the cell at the height `under`, if it has a count. */
function textAt({ cells }, layer, l, cursor, under) {
    if (cells && l === 0 && under !== null) {
        const [low, high] = cells.edges;
        const row = Math.floor((under - low) / (high - low) * cells.rows.length);
        const hit = cells.counts[cursor].find(([at]) => at === row);
        if (hit) return `${hit[1]} in ${cells.rows[row]}`;
    }
    return layer.texts[cursor];
}

function brush(chart, one, other) {
    for (const { brush } of chart.panels) {
        filled(brush, { visibility: one === null ? "hidden" : "visible" }, []);
        if (one === null) continue;
        const [from, to] = [chart.x(Math.min(one, other)), chart.x(Math.max(one, other))];
        filled(brush, { x: px(from), width: px(to - from) }, []);
    }
}

function moveCursor(chart, event) {
    const wide = Math.max(10, Math.round(chart.view.axis.stops.length / 20));
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: wide, PageDown: -wide,
        Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    chart.view.step(event.shiftKey ? by * 10 : by);
}

/** Moves the line, and writes what each layer is there: into the legends, and for screen readers into the slider. */
function showCursor(chart) {
    const { cursor, axis } = chart.view;
    const known = cursor !== null && chart.view.visible(cursor);
    const place = known ? `${axis.at} ${axis.texts[cursor]}` : "";
    const spoken = [place];
    chart.panels.forEach((panel, n) => {
        const said = [];
        panel.layers.forEach((layer, l) => {
            if (!layer.texts) return;
            const under = chart.under?.n === n ? chart.under.place : null;
            const text = known && chart.isShown(n, layer) ? textAt(panel, layer, l, cursor, under) : "";
            panel.values[l].textContent = text;
            if (text) said.push(`${layer.name} ${text}`);
        });
        if (said.length > 0) spoken.push(`${panel.title}: ${said.join(", ")}`);
        const x = known ? px(chart.x(axis.stops[cursor])) : 0;
        if (panel.line) filled(panel.line, { x1: x, x2: x, visibility: known ? "visible" : "hidden" }, []);
    });
    chart.bar.textContent = place || "Point or use the arrow keys to read, drag to zoom";
    chart.bar.classList.toggle("reads", known);
    chart.bar.setAttribute("aria-valuenow", cursor ?? 0);
    chart.bar.setAttribute("aria-valuetext", known ? spoken.join("; ") : "no place chosen");
}
