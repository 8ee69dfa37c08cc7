// What is drawn over percentiles, gaps and rates.

const CURVES = {
    response_time: ["response time", "response"], service_time: ["service time", "service"],
    closed_loop_shadow: ["closed-loop shadow", "shadow"], corrected: ["corrected", "corrected"], truth: ["truth", "truth"],
};

/** A curve, and if wanted its interval band and its lower partner. Beyond its end the sample carries no value. */
function curveLayers(curve, name, role, qs, withBounds) {
    const beyond = q => q > 1 - curve.unanswered_share ? "no answer" : "too few samples";
    const values = curve.points.map(({ q, value_ns }) => ({ q, high: value_ns }));
    const layers = [{ kind: "line", name, role, ends: true, ...boundsLayer(values, qs, high => time(high), beyond) }];
    if (!withBounds) return layers;
    const partners = curve.points.filter(point => point.without_generator_ns != null);
    if (partners.some(point => point.without_generator_ns < point.value_ns)) {
        const points = partners.map(({ q, without_generator_ns }) => ({ q, high: without_generator_ns }));
        layers.push({ kind: "line", name: `${name} without the generator`, role: `${role} partner`,
            ...boundsLayer(points, qs, high => time(high), () => null) });
    }
    const intervals = curve.points.filter(point => point.low_ns != null || point.high_ns != null);
    if (intervals.length > 0) {
        const points = intervals.map(({ q, low_ns, high_ns }) => ({ q, low: low_ns ?? null, high: high_ns ?? null }));
        const written = (high, low) => low === null ? `?…${time(high)}` : high === null ? `${time(low)}…?` : timeRange(low, high);
        layers.unshift({ kind: "band", name: `${name}, 95 % interval`, role: `${role} band`,
            ...boundsLayer(points, qs, written, () => null) });
    }
    return layers;
}

/** Where points are and how they read. Not each percentile has a point: then the next one is read, with its name. */
function boundsLayer(points, qs, written, beyond) {
    const read = i => {
        const point = points.find(({ q }) => q >= qs[i]);
        if (!point) return beyond(qs[i]);
        const text = written(point.high, point.low);
        return point.q === qs[i] ? text : `${text} at ${quantileName(point.q)}`;
    };
    const [low, high] = [points.map(point => point.low), points.map(point => point.high)];
    return { xs: points.map(point => place(point.q)), ys: high, low, high, read };
}

/** Each value once. */
const sorted = values => [...new Set(values)].sort((a, b) => a - b);

/** All curves of the first run, unless `alike`, and the response time of the others. */
function percentileChart(runs, roles = [], alike = false) {
    const isShown = (curve, run, n) => curve.points.length > 0 && (n === 0 || (run === 0 && !alike));
    const shown = runs.map(({ series }, run) => series.curves.filter((curve, n) => isShown(curve, run, n)));
    const qs = sorted(shown.flat().flatMap(curve => curve.points.map(point => point.q)));
    if (qs.length === 0) return null;
    const axis = percentileAxis(qs);
    const layers = shown.flatMap((curves, i) => curves.flatMap(curve => {
        const [kind, usual] = CURVES[curve.kind];
        const isFirst = curve === curves[0];
        const role = isFirst && roles[i] ? roles[i] : i === 0 ? usual : `other-${(i - 1) % 3}`;
        const name = runs.length === 1 ? kind : isFirst ? runs[i].name : `${runs[i].name}, ${kind}`;
        // Bands of several runs on top of each other could not be read.
        return curveLayers(curve, name, role, qs, i === 0 && !alike);
    }));
    const panel = { title: runs.length === 1 ? "Time" : "Response time", height: 340, format: "time", log: true, layers };
    return { axis, panels: [panel], at: "at" };
}

function gapChart({ gaps }) {
    if (!gaps || gaps.planned.length === 0) return null;
    const edges = Array.from({ length: gaps.planned.length + 1 }, (_, i) => gaps.lowest_ns * gaps.bin_factor ** i);
    const stops = gaps.planned.map((_, i) => Math.sqrt(edges[i] * edges[i + 1]));
    const text = i => timeRange(edges[i], edges[i + 1]);
    const axis = valueAxis(log, stops, edges, text, roundTime, "gap between two requests");
    const layers = [["planned", "planned", gaps.planned], ["sent", "sent", gaps.sent]]
        .map(([name, role, ys]) => lineLayer(name, role, axis, ys, share, { kind: "steps" }));
    return { axis, panels: [{ title: "Share of the gaps", height: 180, format: "share", layers }], at: "gaps of" };
}

function rateChart({ by_rate }) {
    if (by_rate.length === 0) return null;
    const stops = by_rate.map(band => band.planned_per_s);
    const axis = valueAxis(linear, stops, null, i => `${rate(stops[i])} planned`, rate, "planned rate");
    const qs = sorted(by_rate.flatMap(band => band.quantiles.map(([q]) => q)));
    const valueOf = (band, q) => band.quantiles.find(([other]) => other === q)?.[1] ?? null;
    const series = qs.map(q => ({ q, values_ns: by_rate.map(band => valueOf(band, q)) }));
    const dots = layers => layers.map(layer => ({ ...layer, dots: true }));
    return { axis, at: "at", panels: [
        { title: "Response time", height: 200, format: "time", log: true, layers: dots(quantileLayers(axis, series, "")) },
        { title: "Answers per second", height: 110, format: "rate", layers: dots([
            lineLayer("planned", "planned", axis, stops, rate),
            lineLayer("completed", "completed", axis, by_rate.map(band => band.completed_per_s), rate),
        ]) },
    ] };
}
