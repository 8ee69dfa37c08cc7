// The axes of the pictures: time, percentiles, and values of a run.

/** The time axis that all pictures over time share. A column is a place of the cursor. */
function timeAxis({ from_s, to_s, column_s, columns }) {
    const edge = i => i === columns ? to_s : from_s + i * column_s;
    const decimals = length => Math.min(6, Math.max(0, Math.ceil(-Math.log10(length) - 1e-9)));
    const text = i => {
        const digits = decimals(Math.min(column_s, edge(i + 1) - edge(i)));
        return `${edge(i).toFixed(digits)}…${edge(i + 1).toFixed(digits)}s`;
    };
    const steps = [60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
    const units = [["h", 3600], ["min", 60], ["s", 0]];
    const named = (at, step) => {
        const [unit, length] = units.find(([, length]) => step >= length);
        return `${plain(at / (length || 1))} ${unit}`;
    };
    return {
        scale: linear, from: from_s, to: to_s, least: 2 * column_s, name: "time since the start",
        stops: Array.from({ length: columns }, (_, i) => (edge(i) + edge(i + 1)) / 2),
        edges: Array.from({ length: columns + 1 }, (_, i) => edge(i)),
        text,
        ticks(from, to, most) {
            const step = (to - from) / most > 20 ? steps.find(step => (to - from) / step <= most) ?? 86400 : 0;
            const at = step ? multiples(from, to, step) : linearTicks(from, to, most);
            return at.map(at => [at, named(at, step)]);
        },
    };
}

/** Where a quantile is on its axis. */
const place = q => 1 / (1 - q);

/** 1/(1 − q), logarithmic: each further nine takes the same room. */
function percentileAxis(qs) {
    const to = Math.max(10, ...qs.slice(-1).map(place)) * 1.15;
    const percent = nines => nines < 2 ? `${nines * 9}0 %` : nines === 2 ? "99 %" : `99.${"9".repeat(nines - 2)} %`;
    return {
        scale: log, from: 1, to, least: 0, name: "percentile",
        stops: qs.map(place),
        text: i => quantileName(qs[i]),
        ticks(from, to) {
            const ticks = [[1, "0 %"], [2, "50 %"]];
            for (let nines = 1; 10 ** nines <= to * 1.001; nines++) ticks.push([10 ** nines, percent(nines)]);
            if (to / from < 8) ticks.push(...linearTicks(from, to, 4).map(at => [at, `${plain(100 - 100 / at)} %`]));
            return ticks.filter(([at]) => at >= from * 0.999 && at <= to);
        },
    };
}

/** An axis of values, a cursor place at each of `stops`. */
function valueAxis(scale, stops, edges, text, tick, name) {
    // A single bin needs something around it to be seen as one.
    const room = edges ? Math.max(1.2, Math.sqrt(10 / (edges.at(-1) / edges[0]))) : 1;
    const [from, to] = edges ? [edges[0] / room, edges.at(-1) * room] : [0, (stops.at(-1) ?? 1) * 1.08];
    const ticks = scale === log ? logTicks : linearTicks;
    return {
        scale, from, to, least: 0, stops, edges, text, name,
        ticks: (from, to, most) => ticks(from, to, most).map(at => [at, tick(at)]),
    };
}
