// The drawing of a panel: the part of truetail's own picture that is shown, and ticks around it.

const MARGIN = { left: 58, right: 14, top: 8, bottom: 26 };
/** Pixels around the data for the width of their lines, and the room that the text of a tick needs above the next. */
const AROUND = 3;
const ROOM = 22;

/** A copy of the data of a picture's panel, and the points of its lines and areas. */
function copied(original, scale) {
    const inner = original.cloneNode(true);
    inner.removeAttribute("overflow");
    const [left, top, width, height] = inner.getAttribute("viewBox").split(" ").map(Number);
    const paths = [...inner.querySelectorAll('path[d^="m"]')].map(path => {
        const d = path.getAttribute("d");
        return { path, d, points: pointsOf(d), layer: Number(path.closest("[data-layer]").dataset.layer) };
    });
    return { inner, paths, unit: { left, top, width, height }, height: Math.round(height * scale), turned: false };
}

/** The points of a path of relative moves and lines, as truetail writes them; `h` makes a dot, `z` closes an area. */
function pointsOf(d) {
    let [x, y] = [0, 0];
    return [...d.matchAll(/([mlhz])([^mlhz]*)/g)].map(([, letter, numbers]) => {
        const [dx, dy] = (numbers.match(/-?(\d+\.?\d*|\.\d+)/g) ?? [0, 0]).map(Number);
        [x, y] = [x + dx, y + (dy ?? 0)];
        return { letter, x, y };
    });
}

/** A height as a share from the foot of the panel, on the scale that is shown. */
function share({ unit, turned, linear }, y) {
    const place = (unit.top + unit.height - y) / unit.height;
    return turned ? linear.ratio ** (place - 1) : place;
}

/** Redraws lines and areas on the other scale. */
function turn(panel, turned) {
    if (panel.turned === turned) return;
    panel.turned = turned;
    const { top, height } = panel.unit;
    for (const { path, d, points } of panel.paths) {
        path.setAttribute("d", !turned ? d : points.map(({ letter, x, y }) => letter === "z" ? "z" : letter === "h" ? "h.1"
            : `${letter.toUpperCase()}${px(x)} ${(top + height * (1 - share(panel, y))).toFixed(2)}`).join(""));
    }
}

/** The range of heights that is shown, as shares: everything, or where zoomed, what is there. */
function heights(chart, panel, n) {
    const { from, to, zoomed } = chart.view;
    if (!zoomed && !panel.turned && panel.layers.every(layer => chart.isShown(n, layer))) return [0, 1];
    const { left, width } = panel.unit;
    const visible = panel.paths.filter(({ layer }) => chart.isShown(n, panel.layers[layer])).flatMap(({ points }) =>
        points.filter(({ x, letter }) => letter !== "z" && x >= left + from * width - 0.5 && x <= left + to * width + 0.5));
    const shares = visible.map(({ y }) => share(panel, y));
    if (shares.length === 0) return [0, 1];
    const [low, high] = shares.reduce(([low, high], share) => [Math.min(low, share), Math.max(high, share)], [1, 0]);
    if (panel.zero || panel.turned) return [0, high > 0 ? Math.min(1, high * 1.06) : 1];
    // At least a factor of two.
    const room = Math.max((high - low) * 0.05, (Math.log(2) / Math.log(panel.linear.ratio) - (high - low)) / 2);
    return [Math.max(0, low - room), Math.min(1, high + room)];
}

function drawPanel(chart, panel, n) {
    const { from, to } = chart.view;
    const { inner, unit, drawing } = panel;
    const isLast = n === chart.panels.length - 1;
    turn(panel, chart.linear && panel.linear !== undefined);
    panel.range = heights(chart, panel, n);
    const [low, high] = panel.range;
    const [top, bottom] = [MARGIN.top, MARGIN.top + panel.height];
    const height = bottom + (isLast ? MARGIN.bottom : 8);
    const line = unit.height * (high - low) / panel.height;
    filled(inner, {
        x: MARGIN.left, y: top - AROUND, width: chart.innerWidth, height: panel.height + 2 * AROUND,
        viewBox: [unit.left + from * unit.width, unit.top + (1 - high) * unit.height - AROUND * line,
            (to - from) * unit.width, (panel.height + 2 * AROUND) * line].join(" "),
    }, []);
    panel.layers.forEach((layer, l) => inner.querySelector(`[data-layer="${l}"]`)
        .setAttribute("display", chart.isShown(n, layer) ? "inline" : "none"));
    const right = chart.width - MARGIN.right;
    const y = place => bottom - (place - low) / (high - low) * panel.height;
    const levels = panel.turned ? panel.linear.ticks : panel.ticks;
    const rows = ticks(levels, low, high, panel.height, () => ROOM).flatMap(([place, text]) => [
        svg("path", { class: "grid", d: `M${MARGIN.left} ${px(y(place))}H${right}` }),
        svg("text", { class: "tick end", x: MARGIN.left - 6, y: px(y(place) + 4) }, text),
    ]);
    // The text at the right end stays inside the drawing.
    const middle = (place, text) => Math.min(chart.x(place), chart.width - text.length * 3.5);
    const columns = ticks(chart.view.axis.ticks, from, to, chart.innerWidth, text => Math.max(60, text.length * 7 + 14)).flatMap(([place, text]) => [
        svg("path", { class: "grid", d: `M${px(chart.x(place))} ${top}V${bottom}` }),
        ...isLast ? [svg("text", { class: "tick middle", x: px(middle(place, text)), y: bottom + 18 }, text)] : [],
    ]);
    const nothing = panel.nothing
        ? [svg("text", { class: "tick middle", x: chart.width / 2, y: (top + bottom) / 2 }, panel.nothing)] : [];
    panel.line = svg("line", { class: "cursor-line", y1: top, y2: bottom, visibility: "hidden" });
    panel.brush = svg("rect", { class: "brush", y: top, height: panel.height, visibility: "hidden" });
    const foot = svg("path", { class: "axis", d: `M${MARGIN.left} ${bottom + 0.5}H${right}` });
    drawing.replaceChildren(...rows, ...columns, inner, ...nothing, foot, panel.brush, panel.line);
    filled(drawing, { width: chart.width, height, viewBox: `0 0 ${chart.width} ${height}` }, []);
}

/** The ticks of the finest level whose texts do not touch, or those of the coarsest that have room. */
function ticks(levels, from, to, length, room) {
    const place = at => (at - from) / (to - from) * length;
    const within = levels.map(level => level.filter(([at]) => at >= from - 1e-6 && at <= to + 1e-6));
    const apart = ([one], [other, text]) => place(other) - place(one) >= room(text);
    const fit = within.filter(level => level.length > 1 && level.every((tick, i) => i === 0 || apart(level[i - 1], tick)));
    const coarsest = within.find(level => level.length > 0) ?? [];
    return fit.at(-1) ?? coarsest.reduce((some, tick) => some.length === 0 || apart(some.at(-1), tick) ? [...some, tick] : some, []);
}
