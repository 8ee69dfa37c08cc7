// The shapes of a layer.
function marks(chart, layer, panel, top, bottom) {
    const { x } = chart;
    const y = value => Math.min(bottom + 3, Math.max(top - 3, panel.y(value)));
    const shape = (kind, d) => d === "" ? [] : [svg("path", { class: `${kind} s-${layer.role}`, d })];
    switch (layer.kind) {
        case "spans": {
            // On the heat map only along its foot, because there the colours mean something.
            const [foot, y, height] = panel.canvas ? ["foot", bottom - 5, 5] : ["", top, bottom - top];
            return layer.spans.map(({ from_s, to_s }) => svg("rect", { class: `span s-${layer.role} ${foot}`, y, height,
                x: px(x(from_s)), width: px(Math.max(1, x(to_s) - x(from_s))) }));
        }
        case "strip":
            return strip(chart, layer, top).flatMap((d, shade) =>
                shape("strip", d).map(path => filled(path, { opacity: 0.25 * (shade + 1) }, [])));
        case "band":
            return shape("band", bandPath(chart, layer.xs, layer.low, layer.high, y, panel.yRange));
        case "area": {
            const base = layer.base ?? layer.ys.map(value => value === null ? null : 0);
            const fill = chart.isLog(panel) ? [] : shape("band", bandPath(chart, layer.xs, base, layer.ys, y, panel.yRange));
            return [...fill, ...shape("line", linePath(chart, layer.xs, layer.ys, y))];
        }
        case "steps":
            return shape("line", stepsPath(chart, layer.ys, y));
        case "line": {
            const ends = layer.ends && layer.xs.length > 0 ? [svg("circle", { class: `dot s-${layer.role}`, r: 3.5,
                cx: px(x(layer.xs.at(-1))), cy: px(y(layer.ys.at(-1))) })] : [];
            const dots = layer.dots ? layer.ys.flatMap((value, i) => value === null ? [] : [svg("circle", {
                class: `dot s-${layer.role}`, r: 3, cx: px(x(layer.xs[i])), cy: px(y(value)) })]) : ends;
            return [...shape("line", linePath(chart, layer.xs, layer.ys, y)), ...dots];
        }
        default: return [];
    }
}

/** A bar over each column that has a count, in four shades by its logarithm. */
function strip(chart, { ys, most }, top) {
    const shades = ["", "", "", ""];
    ys.forEach((n, i) => {
        if (n === 0 || !chart.view.visible(i)) return;
        const [left, right] = chart.axis.edges.slice(i, i + 2).map(chart.x);
        const width = px(Math.max(1, right - left));
        shades[Math.ceil(Math.log1p(n) / Math.log1p(most) * 4) - 1] += `M${px(left)} ${top}h${width}v9h-${width}Z`;
    });
    return shades;
}

/** A line that is broken where there is no value. A value alone is a dot. */
function linePath(chart, xs, ys, y) {
    const [first, end] = within(chart, xs);
    let [path, pen] = ["", false];
    for (let i = first; i < end; i++) {
        if (ys[i] == null) { pen = false; continue; }
        path += `${pen ? "L" : "M"}${px(chart.x(xs[i]))} ${px(y(ys[i]))}${pen ? "" : "h.01"}`;
        pen = true;
    }
    return path;
}

function stepsPath(chart, ys, y) {
    const edges = chart.axis.edges.map(edge => px(chart.x(edge)));
    const bars = ys.map((value, i) => `L${edges[i]} ${px(y(value))}H${edges[i + 1]}`).join("");
    return `M${edges[0]} ${px(y(0))}${bars}V${px(y(0))}`;
}

/** The areas between two lines, where both are known; one that is not known is the edge of the picture. */
function bandPath(chart, xs, lows, highs, y, [least, most]) {
    const [first, end] = within(chart, xs);
    let [path, upper, lower] = ["", [], []];
    const close = () => {
        if (upper.length > 1) path += `M${upper.join("L")}L${lower.reverse().join("L")}Z`;
        [upper, lower] = [[], []];
    };
    for (let i = first; i < end; i++) {
        if (lows[i] === null && highs[i] === null) { close(); continue; }
        upper.push(`${px(chart.x(xs[i]))} ${px(y(highs[i] ?? most))}`);
        lower.push(`${px(chart.x(xs[i]))} ${px(y(lows[i] ?? least))}`);
    }
    close();
    return path;
}
