// The drawing of a panel: its range, its ticks and its layers.

function drawPanel(chart, panel, n) {
    const last = n === chart.panels.length - 1;
    const height = panel.height + MARGIN.top + (last ? MARGIN.bottom : 8);
    const [top, bottom] = [MARGIN.top, MARGIN.top + panel.height];
    const layers = panel.layers.filter(layer => chart.isShown(n, layer));
    const drawn = chart.isLog(panel) ? layers : stacked(layers);
    const range = valueRange(chart, panel, drawn);
    const parts = [];
    panel.y = null;
    if (range) {
        panel.yScale = chart.isLog(panel) ? log : linear;
        panel.yRange = range;
        panel.y = mapping(panel.yScale, ...range, bottom, top);
        parts.push(...yTicks(chart, panel, range));
    } else {
        const place = { x: chart.width / 2, y: (top + bottom) / 2, class: "tick middle" };
        parts.push(svg("text", place, whyEmpty(panel, layers)));
    }
    parts.push(...xTicks(chart, top, bottom, last));
    const inner = [MARGIN.left, top - 1, chart.innerWidth, panel.height + 2];
    const [x, y, width, innerHeight] = inner;
    const clip = svg("svg", { x, y, width, height: innerHeight, viewBox: inner.join(" ") });
    clip.append(...drawn.flatMap(layer => range || !needsValues(layer) ? marks(chart, layer, panel, top, bottom) : []));
    panel.line = svg("line", { class: "cursor-line", y1: top, y2: bottom, visibility: "hidden" });
    panel.brush = svg("rect", { class: "brush", y: top, height: panel.height, visibility: "hidden" });
    const baseline = svg("path", { class: "axis", d: `M${MARGIN.left} ${bottom + 0.5}H${chart.width - MARGIN.right}` });
    panel.drawing.replaceChildren(...parts, clip, baseline, panel.brush, panel.line);
    filled(panel.drawing, { width: chart.width, height, viewBox: `0 0 ${chart.width} ${height}` }, []);
    panel.size = height;
    if (panel.canvas) drawHeat(chart, panel, layers.find(layer => layer.kind === "heat"), top);
}

const needsValues = layer => layer.kind !== "spans" && layer.kind !== "strip";

/** Why a panel shows no value, of which `layers` are switched on. */
function whyEmpty(panel, layers) {
    if (!panel.layers.some(needsValues)) return "Not recorded";
    if (!layers.some(needsValues)) return "Switched off";
    return layers.some(layer => layer.ys?.some(value => value === 0)) ? "All values are 0" : "No values here";
}

/** Each area on top of those before it. */
function stacked(layers) {
    let below = null;
    return layers.map(layer => {
        if (layer.kind !== "area") return layer;
        const base = below ?? layer.ys.map(value => value === null ? null : 0);
        below = layer.ys.map((value, i) => value === null ? base[i] : value + (base[i] ?? 0));
        return { ...layer, base, ys: below };
    });
}

/** From the lowest to the highest value that is shown, with some room; null where there is none. */
function valueRange(chart, panel, layers) {
    let [low, high] = [Infinity, -Infinity];
    const take = value => {
        if (value == null || (value <= 0 && chart.isLog(panel))) return;
        [low, high] = [Math.min(low, value), Math.max(high, value)];
    };
    for (const layer of layers) {
        if (layer.kind === "heat") {
            layer.map.cells.filter((cells, i) => cells.length > 0 && chart.view.visible(i)).forEach(cells => {
                take(layer.edge(cells[0][0]));
                take(layer.edge(cells.at(-1)[0] + 1));
            });
        }
        const [first, end] = layer.xs ? within(chart, layer.xs) : [0, 0];
        for (const ys of [layer.ys, layer.low, layer.high]) {
            for (let i = first; ys && i < end; i++) take(ys[i]);
        }
    }
    if (high === -Infinity) return null;
    if (!chart.isLog(panel)) return [0, high > 0 ? high * 1.06 : 1];
    const room = Math.max((high / low) ** 0.04, high / low < 2 ? 1.4 : 1);
    return [low / room, high * room];
}

/** The indices of the places within what is shown, and one to each side. */
function within(chart, xs) {
    const { from, to } = chart.view;
    const first = xs.findIndex(x => x >= from);
    const beyond = xs.findIndex(x => x > to);
    return [first === -1 ? xs.length : Math.max(0, first - 1), beyond === -1 ? xs.length : beyond + 1];
}

function yTicks(chart, panel, [from, to]) {
    const written = { time: roundTime, rate: plain, count: plain, share: part => share(part) }[panel.format];
    const most = Math.max(2, panel.height / 34);
    let ticks = chart.isLog(panel) ? logTicks(from, to) : linearTicks(from, to, most);
    if (panel.format === "count") ticks = ticks.filter(Number.isInteger);
    let above = Infinity;
    return ticks.flatMap(value => {
        const y = panel.y(value);
        const grid = svg("path", { class: "grid", d: `M${MARGIN.left} ${px(y)}H${chart.width - MARGIN.right}` });
        if (above - y < 15) return [grid];
        above = y;
        return [grid, svg("text", { x: MARGIN.left - 6, y: px(y + 4), class: "tick end" }, written(value))];
    });
}

function xTicks(chart, top, bottom, named) {
    const ticks = chart.axis.ticks(chart.view.from, chart.view.to, Math.max(2, (chart.width - 80) / 85));
    let free = -Infinity;
    return ticks.sort(([a], [b]) => a - b).flatMap(([value, text]) => {
        const x = chart.x(value);
        const grid = svg("path", { class: "grid", d: `M${px(x)} ${top}V${bottom}` });
        const half = text.length * 3.5;
        if (!named || x - half < free || x + half > chart.width + 4) return [grid];
        free = x + half + 6;
        return [grid, svg("text", { x: px(x), y: bottom + 18, class: "tick middle" }, text)];
    });
}
