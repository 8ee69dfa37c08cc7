// What is drawn over time: layers in panels. `read(i)` is the text at stop i, or null where nothing is known.

function lineLayer(name, role, axis, ys, written, more = {}) {
    const read = i => ys[i] == null ? null : written(ys[i]);
    return { kind: "line", name, role, xs: axis.stops, ys, read, ...more };
}

/** Stretches of time: pauses of either side, and warm-up that the first column does not hold. */
function spanLayers(run) {
    const { from_s, measured_from_s } = run.time;
    const warmUp = measured_from_s > from_s ? [{ kind: "spans", name: "warm-up", role: "warm-up",
        spans: [{ from_s, to_s: measured_from_s }] }] : [];
    const sides = [["generator", "generator paused"], ["server", "server paused"]];
    const pauses = sides.map(([side, name]) => ({ kind: "spans", name, role: `pause-${side}`,
        spans: run.pauses.filter(pause => pause.side === side) }));
    return [...warmUp, ...pauses.filter(layer => layer.spans.length > 0)];
}

const RESPONSE_TIMES = { title: "Response time", cells: "answers", strip: "no answer" };
const EVENT_GAPS = { title: "Gap between events", cells: "gaps", strip: "not ended" };

function heatPanel(run, { title, cells, strip } = RESPONSE_TIMES) {
    const map = run.heat_map;
    const edge = row => map.lowest_ns * map.row_factor ** row;
    const readCells = (i, at) => {
        const cells = map.cells[i] ?? [];
        if (cells.length === 0) return "0";
        const hit = at && cells.find(([row]) => edge(row) <= at && at < edge(row + 1));
        const range = timeRange(edge((hit ?? cells[0])[0]), edge((hit ?? cells.at(-1))[0] + 1));
        return `${hit ? hit[1] : cells.reduce((sum, [, n]) => sum + n, 0)} in ${range}`;
    };
    const layers = [
        { kind: "heat", name: cells, role: "heat", map, edge, read: readCells },
        { kind: "strip", name: strip, role: "failed", ys: map.unanswered, most: Math.max(...map.unanswered),
            read: i => count(map.unanswered[i] ?? 0) },
    ];
    if (!map.unanswered.some(n => n > 0)) layers.pop();
    return { title, height: 240, format: "time", log: true, layers: [...layers, ...spanLayers(run)] };
}

/** The gaps between the events of streams, in place of the response times; their columns are their own. */
function gapPanel({ streams, pauses }) {
    return heatPanel({ time: streams.time, heat_map: streams.gaps, pauses }, EVENT_GAPS);
}

function quantileLayers(axis, series, prefix) {
    return series.map(({ q, values_ns }) => {
        const name = quantileName(q);
        return lineLayer(name, `${prefix}${name.replace(".", "")}`, axis, values_ns, time);
    });
}

function lanePanels(run, axis) {
    const { load } = run;
    const line = (name, role, ys, written) => lineLayer(name, role, axis, ys, written);
    const lanes = [
        { title: "Requests per second", format: "rate", layers: [
            line("planned", "planned", load.planned_per_s, rate), line("sent", "sent", load.sent_per_s, rate),
            line("completed", "completed", load.completed_per_s, rate),
            ...load.failed_per_s.some(n => n > 0) ? [line("failed", "failed", load.failed_per_s, rate)] : [],
        ] },
        { title: "Waiting requests", format: "count", layers: [
            line("backlog", "backlog", load.backlog, count), line("in flight", "in-flight", load.in_flight, count),
        ] },
        { title: "Response time", format: "time", log: true, layers: quantileLayers(axis, run.response_time, "") },
        { title: "Generator lag", format: "time", log: true, layers: quantileLayers(axis, run.generator_lag, "lag-") },
    ];
    return lanes.map(lane => ({ height: 92, ...lane,
        layers: [...lane.layers.filter(layer => layer.ys.length > 0), ...spanLayers(run)] }));
}

function delayPanel(run, axis) {
    const { generator_lag_ns, connection_wait_ns, connect_ns } = run.start_delay;
    const parts = [["generator lag", "lag", generator_lag_ns], ["connection wait", "wait", connection_wait_ns],
        ["connect", "connect", connect_ns]];
    const layers = parts.map(([name, role, ys]) => lineLayer(name, role, axis, ys, time, { kind: "area" }));
    return { title: "Mean start delay", height: 180, format: "time", log: false,
        layers: [...layers.filter(layer => layer.ys.length > 0), ...spanLayers(run)] };
}
