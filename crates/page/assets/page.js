// The script of truetail's pages. It draws the series of a run as pictures that can be read, zoomed and saved. A page shows its
// static pictures without it. It loads nothing from elsewhere, and no data reach the page as markup.
//
// The data are those of crates/page/src/data.rs and crates/analysis/src/series: times in ns, places on the time axis in s.
// Global: truetail.{show, live, overTime, percentiles, figures}.
(() => {
    "use strict";

    // ---- Figures, written as crates/analysis/src/figures.rs and crates/report/src/number.rs write them

    /** Rounds to `decimals`, exact ties to the even digit, as Rust does. `value` is not negative. */
    function fixed(value, decimals) {
        const [whole, rest] = value.toFixed(60).split(".");
        const kept = whole + rest.slice(0, decimals);
        const isTie = /^50*$/.test(rest.slice(decimals));
        if (!isTie || Number(kept.at(-1)) % 2 === 1) return value.toFixed(decimals);
        return decimals === 0 ? whole : `${whole}.${rest.slice(0, decimals)}`;
    }

    function fourDigits(value) {
        return fixed(value, value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0);
    }

    const withoutZeros = number => number.includes(".") ? number.replace(/\.?0+$/, "") : number;

    function timeParts(ns) {
        const units = [["ns", 1, 999.5], ["µs", 1e3, 999.95], ["ms", 1e6, 999.95]];
        const [unit, length] = units.find(([, length, end]) => ns / length < end) ?? ["s", 1e9];
        return [length === 1 ? fixed(ns, 0) : fourDigits(ns / length), unit];
    }

    const time = ns => timeParts(ns).join("");

    /** Without trailing zeros, for ticks. */
    const roundTime = ns => timeParts(ns).map(withoutZeros).join("");

    function timeRange(low, high) {
        const [[from, unit], [to, other]] = [timeParts(low), timeParts(high)];
        return unit === other ? `${from}…${to}${unit}` : `${from}${unit}…${to}${other}`;
    }

    const rate = perSecond => `${withoutZeros(fourDigits(Math.max(0, perSecond)))}/s`;

    const quantileName = q => q >= 1 ? "max" : `p${Math.round(q * 1e6) / 1e4}`;

    const count = n => String(Math.round(n));

    function share(part) {
        const percent = part * 100;
        if (percent > 0 && percent < 0.1) return "<0.1%";
        if (percent > 99.9 && percent < 100) return ">99.9%";
        const decimal = (percent > 0 && percent < 9.95) || (percent > 99 && percent < 100);
        return `${fixed(percent, decimal ? 1 : 0)}%`;
    }

    const plain = value => withoutZeros(value.toFixed(6));

    // ---- Scales and ticks

    const linear = { of: value => value, back: value => value };
    const log = { of: value => Math.log10(Math.max(value, 1e-300)), back: place => 10 ** place };

    /** A function from values to pixels. */
    function mapping(scale, from, to, start, end) {
        const first = scale.of(from);
        const factor = (end - start) / (scale.of(to) - first || 1);
        return value => start + (scale.of(value) - first) * factor;
    }

    /** Multiples of 1, 2 or 5 times a power of ten. */
    function linearTicks(from, to, most) {
        const rough = (to - from) / Math.max(1, most);
        if (!(rough > 0)) return [];
        const base = 10 ** Math.floor(Math.log10(rough) + 1e-9);
        return multiples(from, to, [1, 2, 5, 10].map(by => by * base).find(step => step >= rough * 0.999));
    }

    function multiples(from, to, step) {
        const ticks = [];
        for (let n = Math.ceil(from / step - 1e-9); n * step <= to * (1 + 1e-9); n++) ticks.push(n * step);
        return ticks;
    }

    /** Powers of ten; over less than two of them also 2 and 5 times these. */
    function logTicks(from, to) {
        const named = to / from < 100 ? [1, 2, 5] : [1];
        const ticks = [];
        for (let power = 10 ** Math.floor(Math.log10(from) + 1e-9); power <= to; power *= 10) {
            ticks.push(...named.map(by => by * power).filter(at => at >= from * 0.999 && at <= to * 1.001));
        }
        return ticks.length > 1 ? ticks : linearTicks(from, to, 3).filter(at => at > 0);
    }

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

    // ---- What is drawn: layers in panels. `read(i)` is the text at stop i, or null where nothing is known

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

    function heatPanel(run) {
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
            { kind: "heat", name: "answers", role: "heat", map, edge, read: readCells },
            { kind: "strip", name: "no answer", role: "failed", ys: map.unanswered, most: Math.max(...map.unanswered),
                read: i => count(map.unanswered[i] ?? 0) },
        ];
        if (!map.unanswered.some(n => n > 0)) layers.pop();
        return { title: "Response time", height: 240, format: "time", log: true, layers: [...layers, ...spanLayers(run)] };
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

    // ---- Elements. Text goes in as text only

    function html(name, attributes = {}, ...children) {
        return filled(document.createElement(name), attributes, children);
    }

    function svg(name, attributes = {}, ...children) {
        return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
    }

    function filled(element, attributes, children) {
        for (const [name, value] of Object.entries(attributes)) {
            if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
            else if (value !== null && value !== false) element.setAttribute(name, value);
        }
        element.append(...children);
        return element;
    }

    /** A place in pixels. */
    const px = value => String(Math.round(value * 10) / 10);

    // ---- A view: the stretch of an axis that is shown and the cursor on it, shared by all charts of that axis

    class View {
        constructor(axis) {
            this.charts = new Set();
            this.cursor = null;
            this.zoomed = false;
            this.follow(axis);
        }

        /** Takes a newer axis, of a run that goes on. What was zoomed stays as it is. */
        follow(axis) {
            this.axis = axis;
            if (!this.zoomed) [this.from, this.to] = [axis.from, axis.to];
            if (this.cursor !== null && this.cursor >= axis.stops.length) this.cursor = null;
        }

        zoom(one, other) {
            const { axis } = this;
            const [from, to] = [Math.max(axis.from, Math.min(one, other)), Math.min(axis.to, Math.max(one, other))];
            if (to - from < axis.least || !(to > from)) return;
            Object.assign(this, { from, to, zoomed: true });
            this.charts.forEach(chart => chart.draw());
        }

        reset() {
            if (!this.zoomed) return;
            Object.assign(this, { from: this.axis.from, to: this.axis.to, zoomed: false });
            this.charts.forEach(chart => chart.draw());
        }

        /** Moves the cursor to stop i, or takes it away. */
        point(i) {
            this.cursor = i;
            this.charts.forEach(chart => chart.showCursor());
        }

        visible(i) {
            return this.axis.stops[i] >= this.from && this.axis.stops[i] <= this.to;
        }

        /** By one or more stops, within what is shown. */
        step(by) {
            const shown = this.axis.stops.map((_, i) => i).filter(i => this.visible(i));
            if (shown.length === 0) return;
            const now = this.cursor === null ? (by > 0 ? -1 : shown.length) : shown.indexOf(this.cursor);
            this.point(shown[Math.min(shown.length - 1, Math.max(0, now + by))]);
        }

        nearest(x) {
            const { stops, scale } = this.axis;
            let best = 0;
            for (let i = 1; i < stops.length; i++) {
                if (Math.abs(scale.of(stops[i]) - scale.of(x)) < Math.abs(scale.of(stops[best]) - scale.of(x))) best = i;
            }
            return best;
        }
    }

    // ---- A chart: panels above each other with one cursor

    const MARGIN = { left: 58, right: 14, top: 8, bottom: 26 };
    const NOTHING = "–";

    class Chart {
        constructor(element, name) {
            Object.assign(this, { element, name, hidden: new Set(), linear: false, width: 0, panels: [] });
            this.bar = html("div", {
                class: "cursor", role: "slider", tabindex: 0, "aria-valuemin": 0, onkeydown: event => this.move(event),
                onfocus: () => this.view.cursor ?? this.view.step(1),
            });
            this.scaleButton = this.button("Linear scale", () => this.toggleScale());
            this.resetButton = this.button("Reset zoom", () => this.view.reset());
            const buttons = html("span", { class: "buttons" }, this.resetButton, this.scaleButton,
                this.button("Save SVG", () => this.save("svg")), this.button("Save PNG", () => this.save("png")));
            this.body = html("div", { class: "panels" });
            element.replaceChildren(html("div", { class: "tools" }, this.bar, buttons), this.body);
            element.classList.add("drawn-here");
            new ResizeObserver(() => this.element.clientWidth !== this.width && this.draw()).observe(element);
        }

        button(text, onclick) {
            return html("button", { type: "button", onclick }, text);
        }

        update({ axis, panels, at }, view) {
            view.charts.add(this);
            Object.assign(this, { view, axis, at });
            this.bar.setAttribute("aria-label", `Cursor: ${axis.name}`);
            this.bar.setAttribute("aria-valuemax", Math.max(0, axis.stops.length - 1));
            const shape = panels => JSON.stringify(panels.map(panel => [panel.title, panel.layers.map(layer => layer.name)]));
            const same = shape(panels) === shape(this.panels);
            const old = this.panels;
            this.panels = panels.map((panel, n) => same ? { ...old[n], ...panel } : { ...panel, ...this.build(panel, n) });
            if (!same) this.body.replaceChildren(...this.panels.map(panel => panel.box));
            this.scaleButton.hidden = !panels.some(panel => panel.log !== undefined);
            this.draw();
        }

        /** The elements of a panel: its legend, whose entries turn layers on and off, and its drawing. */
        build(panel, n) {
            const legend = html("div", { class: "legend" }, html("span", { class: "title" }, panel.title));
            const entries = panel.layers.map(layer => {
                // Spans are in all panels; the first one's entry is for all of them.
                if (layer.kind === "spans" && n > 0) return null;
                const value = html("span", { class: "value" });
                const key = this.key(n, layer);
                const swatch = html("i", { class: `swatch s-${layer.role} ${layer.kind}` });
                const button = html("button", { type: "button", "aria-pressed": String(!this.hidden.has(key)), onclick: () => {
                    if (!this.hidden.delete(key)) this.hidden.add(key);
                    button.setAttribute("aria-pressed", !this.hidden.has(key));
                    this.draw();
                } }, swatch, layer.name);
                legend.append(html("span", { class: "entry" }, button, ...layer.read ? [value] : []));
                return { value, swatch };
            });
            const stops = ["low", "middle", "high"].map(stop => html("i", { class: stop }));
            const isHeat = panel.layers[0].kind === "heat";
            const ramp = isHeat ? html("span", { class: "ramp" }, html("b"), ...stops, html("b")) : null;
            if (ramp) legend.append(ramp);
            const canvas = ramp ? html("canvas", { "aria-hidden": "true" }) : null;
            const drawing = svg("svg", { "aria-hidden": "true", class: "drawing" });
            const plot = html("div", { class: "plot" }, ...canvas ? [canvas] : [], drawing);
            this.listen(plot, n);
            return { box: html("div", { class: "panel" }, legend, plot), legend, entries, ramp, canvas, drawing, plot };
        }

        key(n, layer) {
            return layer.kind === "spans" ? layer.name : `${n} ${layer.name}`;
        }

        isShown(n, layer) {
            return !this.hidden.has(this.key(n, layer));
        }

        toggleScale() {
            this.linear = !this.linear;
            this.draw();
        }

        // -- Drawing

        draw() {
            this.width = this.element.clientWidth;
            if (this.width === 0) return;
            this.innerWidth = Math.max(1, this.width - MARGIN.left - MARGIN.right);
            const { from, to, zoomed, axis } = this.view;
            this.x = mapping(axis.scale, from, to, MARGIN.left, this.width - MARGIN.right);
            this.resetButton.hidden = !zoomed;
            this.panels.forEach((panel, n) => this.drawPanel(panel, n));
            const isLog = panel => panel.log !== undefined && this.isLog(panel);
            this.scaleButton.textContent = this.panels.some(isLog) ? "Linear scale" : "Log scale";
            this.showCursor();
        }

        /** `linear` turns each scale that can be turned. */
        isLog(panel) {
            return panel.log !== undefined && panel.log !== this.linear;
        }

        drawPanel(panel, n) {
            const last = n === this.panels.length - 1;
            const height = panel.height + MARGIN.top + (last ? MARGIN.bottom : 8);
            const [top, bottom] = [MARGIN.top, MARGIN.top + panel.height];
            const layers = panel.layers.filter(layer => this.isShown(n, layer));
            const needsValues = layer => layer.kind !== "spans" && layer.kind !== "strip";
            const isStacked = !this.isLog(panel);
            const drawn = isStacked ? stacked(layers) : layers;
            const range = this.range(panel, drawn);
            const parts = [];
            panel.y = null;
            if (range) {
                panel.yScale = this.isLog(panel) ? log : linear;
                panel.yRange = range;
                panel.y = mapping(panel.yScale, ...range, bottom, top);
                parts.push(...this.yTicks(panel, range));
            } else {
                const isRecorded = panel.layers.some(needsValues);
                const isZero = layers.some(layer => layer.ys?.some(value => value === 0));
                const why = !isRecorded ? "Not recorded" : !layers.some(needsValues) ? "Switched off"
                    : isZero ? "All values are 0" : "No values here";
                parts.push(svg("text", { x: this.width / 2, y: (top + bottom) / 2, class: "tick middle" }, why));
            }
            parts.push(...this.xTicks(top, bottom, last));
            const inner = [MARGIN.left, top - 1, this.innerWidth, panel.height + 2];
            const [x, y, width, innerHeight] = inner;
            const clip = svg("svg", { x, y, width, height: innerHeight, viewBox: inner.join(" ") });
            clip.append(...drawn.flatMap(layer => range || !needsValues(layer) ? this.marks(layer, panel, top, bottom) : []));
            panel.line = svg("line", { class: "cursor-line", y1: top, y2: bottom, visibility: "hidden" });
            panel.brush = svg("rect", { class: "brush", y: top, height: panel.height, visibility: "hidden" });
            const baseline = svg("path", { class: "axis", d: `M${MARGIN.left} ${bottom + 0.5}H${this.width - MARGIN.right}` });
            panel.drawing.replaceChildren(...parts, clip, baseline, panel.brush, panel.line);
            filled(panel.drawing, { width: this.width, height, viewBox: `0 0 ${this.width} ${height}` }, []);
            panel.size = height;
            if (panel.canvas) this.drawHeat(panel, layers.find(layer => layer.kind === "heat"), top);
        }

        /** From the lowest to the highest value that is shown, with some room; null where there is none. */
        range(panel, layers) {
            let [low, high] = [Infinity, -Infinity];
            const take = value => {
                if (value == null || (value <= 0 && this.isLog(panel))) return;
                [low, high] = [Math.min(low, value), Math.max(high, value)];
            };
            for (const layer of layers) {
                if (layer.kind === "heat") {
                    layer.map.cells.filter((cells, i) => cells.length > 0 && this.view.visible(i)).forEach(cells => {
                        take(layer.edge(cells[0][0]));
                        take(layer.edge(cells.at(-1)[0] + 1));
                    });
                }
                const [first, end] = layer.xs ? this.within(layer.xs) : [0, 0];
                for (const ys of [layer.ys, layer.low, layer.high]) {
                    for (let i = first; ys && i < end; i++) take(ys[i]);
                }
            }
            if (high === -Infinity) return null;
            if (!this.isLog(panel)) return [0, high > 0 ? high * 1.06 : 1];
            const room = Math.max((high / low) ** 0.04, high / low < 2 ? 1.4 : 1);
            return [low / room, high * room];
        }

        /** The indices of the places within what is shown, and one to each side. */
        within(xs) {
            const { from, to } = this.view;
            const first = xs.findIndex(x => x >= from);
            const beyond = xs.findIndex(x => x > to);
            return [first === -1 ? xs.length : Math.max(0, first - 1), beyond === -1 ? xs.length : beyond + 1];
        }

        yTicks(panel, [from, to]) {
            const written = { time: roundTime, rate: plain, count: plain, share: part => share(part) }[panel.format];
            const most = Math.max(2, panel.height / 34);
            let ticks = this.isLog(panel) ? logTicks(from, to) : linearTicks(from, to, most);
            if (panel.format === "count") ticks = ticks.filter(Number.isInteger);
            let above = Infinity;
            return ticks.flatMap(value => {
                const y = panel.y(value);
                const grid = svg("path", { class: "grid", d: `M${MARGIN.left} ${px(y)}H${this.width - MARGIN.right}` });
                if (above - y < 15) return [grid];
                above = y;
                return [grid, svg("text", { x: MARGIN.left - 6, y: px(y + 4), class: "tick end" }, written(value))];
            });
        }

        xTicks(top, bottom, named) {
            const ticks = this.axis.ticks(this.view.from, this.view.to, Math.max(2, (this.width - 80) / 85));
            let free = -Infinity;
            return ticks.sort(([a], [b]) => a - b).flatMap(([value, text]) => {
                const x = this.x(value);
                const grid = svg("path", { class: "grid", d: `M${px(x)} ${top}V${bottom}` });
                const half = text.length * 3.5;
                if (!named || x - half < free || x + half > this.width + 4) return [grid];
                free = x + half + 6;
                return [grid, svg("text", { x: px(x), y: bottom + 18, class: "tick middle" }, text)];
            });
        }

        /** The shapes of a layer. */
        marks(layer, panel, top, bottom) {
            const { x } = this;
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
                    return this.strip(layer, top).flatMap((d, shade) =>
                        shape("strip", d).map(path => filled(path, { opacity: 0.25 * (shade + 1) }, [])));
                case "band":
                    return shape("band", this.band(layer.xs, layer.low, layer.high, y, panel.yRange));
                case "area": {
                    const base = layer.base ?? layer.ys.map(value => value === null ? null : 0);
                    const fill = this.isLog(panel) ? [] : shape("band", this.band(layer.xs, base, layer.ys, y, panel.yRange));
                    return [...fill, ...shape("line", this.path(layer.xs, layer.ys, y))];
                }
                case "steps":
                    return shape("line", this.steps(layer.ys, y));
                case "line": {
                    const ends = layer.ends && layer.xs.length > 0 ? [svg("circle", { class: `dot s-${layer.role}`, r: 3.5,
                        cx: px(x(layer.xs.at(-1))), cy: px(y(layer.ys.at(-1))) })] : [];
                    const dots = layer.dots ? layer.ys.flatMap((value, i) => value === null ? [] : [svg("circle", {
                        class: `dot s-${layer.role}`, r: 3, cx: px(x(layer.xs[i])), cy: px(y(value)) })]) : ends;
                    return [...shape("line", this.path(layer.xs, layer.ys, y)), ...dots];
                }
                default: return [];
            }
        }

        /** A bar over each column that has a count, in four shades by its logarithm. */
        strip({ ys, most }, top) {
            const shades = ["", "", "", ""];
            ys.forEach((n, i) => {
                if (n === 0 || !this.view.visible(i)) return;
                const [left, right] = this.axis.edges.slice(i, i + 2).map(this.x);
                const width = px(Math.max(1, right - left));
                shades[Math.ceil(Math.log1p(n) / Math.log1p(most) * 4) - 1] += `M${px(left)} ${top}h${width}v9h-${width}Z`;
            });
            return shades;
        }

        /** A line that is broken where there is no value. A value alone is a dot. */
        path(xs, ys, y) {
            const [first, end] = this.within(xs);
            let [path, pen] = ["", false];
            for (let i = first; i < end; i++) {
                if (ys[i] == null) { pen = false; continue; }
                path += `${pen ? "L" : "M"}${px(this.x(xs[i]))} ${px(y(ys[i]))}${pen ? "" : "h.01"}`;
                pen = true;
            }
            return path;
        }

        steps(ys, y) {
            const edges = this.axis.edges.map(edge => px(this.x(edge)));
            const bars = ys.map((value, i) => `L${edges[i]} ${px(y(value))}H${edges[i + 1]}`).join("");
            return `M${edges[0]} ${px(y(0))}${bars}V${px(y(0))}`;
        }

        /** The areas between two lines, where both are known; one that is not known is the edge of the picture. */
        band(xs, lows, highs, y, [least, most]) {
            const [first, end] = this.within(xs);
            let [path, upper, lower] = ["", [], []];
            const close = () => {
                if (upper.length > 1) path += `M${upper.join("L")}L${lower.reverse().join("L")}Z`;
                [upper, lower] = [[], []];
            };
            for (let i = first; i < end; i++) {
                if (lows[i] === null && highs[i] === null) { close(); continue; }
                upper.push(`${px(this.x(xs[i]))} ${px(y(highs[i] ?? most))}`);
                lower.push(`${px(this.x(xs[i]))} ${px(y(lows[i] ?? least))}`);
            }
            close();
            return path;
        }

        /** One pixel a cell on a canvas of its own, which is then stretched row by row: rows are not equally high. */
        drawHeat(panel, layer, top) {
            const { canvas } = panel;
            const ratio = window.devicePixelRatio || 1;
            const [width, height] = [this.innerWidth, panel.height];
            Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
            const place = { left: MARGIN.left, top, width, height };
            Object.entries(place).forEach(([name, value]) => { canvas.style[name] = `${value}px`; });
            const colors = [...panel.ramp.querySelectorAll("i")].map(stop => rgb(getComputedStyle(stop).backgroundColor));
            const [least, most] = panel.ramp.querySelectorAll("b");
            const map = layer?.map ?? { largest: 0 };
            panel.ramp.hidden = map.largest === 0;
            if (map.largest === 0 || !panel.y) return;
            [least.textContent, most.textContent] = ["1", count(map.largest)];
            const key = colors.join();
            if (panel.image?.key !== key || panel.image.map !== map) {
                panel.image = { key, map, cells: cellImage(map, colors) };
            }
            const { cells } = panel.image;
            const context = canvas.getContext("2d");
            context.imageSmoothingEnabled = false;
            const { edges } = this.axis;
            const x = value => (this.x(value) - MARGIN.left) * ratio;
            const y = value => Math.round((panel.y(value) - top) * ratio);
            const last = map.cells.length - 1;
            for (let row = 0; row < map.rows; row++) {
                const [upper, lower] = [y(layer.edge(row + 1)), y(layer.edge(row))];
                if (lower < 0 || upper > canvas.height) continue;
                const stretch = (from, columns, left, right) => columns > 0 && context.drawImage(cells, from, row, columns, 1,
                    left, upper, right - left, Math.max(1, lower - upper));
                // The last column may be wider than the others.
                stretch(0, last, x(edges[0]), x(edges[last]));
                stretch(last, 1, x(edges[last]), x(edges[last + 1]));
            }
        }

        // -- Reading

        listen(plot, n) {
            const place = event => {
                const box = plot.getBoundingClientRect();
                const { axis, from, to } = this.view;
                const part = (event.clientX - box.left - MARGIN.left) / this.innerWidth;
                const [first, last] = [axis.scale.of(from), axis.scale.of(to)];
                return axis.scale.back(first + (last - first) * Math.min(1, Math.max(0, part)));
            };
            let [start, startX] = [null, 0];
            plot.addEventListener("pointerdown", event => {
                if (event.button !== 0) return;
                [start, startX] = [place(event), event.clientX];
                plot.setPointerCapture(event.pointerId);
            });
            plot.addEventListener("pointermove", event => {
                const panel = this.panels[n];
                const py = event.clientY - plot.getBoundingClientRect().top;
                this.under = panel.y ? { n, value: unmap(panel, py) } : null;
                this.view.point(this.view.nearest(place(event)));
                this.under = null;
                if (start !== null) this.brush(start, place(event));
            });
            const end = event => {
                const isDrag = start !== null && Math.abs(event.clientX - startX) > 5;
                this.brush(null);
                if (isDrag && event.type === "pointerup") this.view.zoom(start, place(event));
                start = null;
            };
            plot.addEventListener("pointerup", end);
            plot.addEventListener("pointercancel", end);
            plot.addEventListener("pointerleave", () => document.activeElement === this.bar || this.view.point(null));
            plot.addEventListener("dblclick", () => this.view.reset());
        }

        brush(one, other) {
            for (const { brush } of this.panels) {
                filled(brush, { visibility: one === null ? "hidden" : "visible" }, []);
                if (one === null) continue;
                const [from, to] = [this.x(Math.min(one, other)), this.x(Math.max(one, other))];
                filled(brush, { x: px(from), width: px(to - from) }, []);
            }
        }

        move(event) {
            const wide = Math.max(10, Math.round(this.axis.stops.length / 20));
            const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: wide, PageDown: -wide,
                Home: -Infinity, End: Infinity }[event.key];
            if (by === undefined) return;
            event.preventDefault();
            this.view.step(event.shiftKey ? by * 10 : by);
        }

        /** Moves the line, and writes what each layer is there: into the legends, and for screen readers into the slider. */
        showCursor() {
            const { cursor } = this.view;
            const known = cursor !== null && this.view.visible(cursor);
            const place = known ? `${this.at} ${this.axis.text(cursor)}` : "";
            const spoken = [place];
            this.panels.forEach((panel, n) => {
                const said = [];
                panel.layers.forEach((layer, l) => {
                    if (!layer.read) return;
                    const under = this.under?.n === n ? this.under.value : null;
                    const text = known && this.isShown(n, layer) ? layer.read(cursor, under) ?? NOTHING : "";
                    panel.entries[l].value.textContent = text;
                    if (text) said.push(`${layer.name} ${text}`);
                });
                if (said.length > 0) spoken.push(`${panel.title}: ${said.join(", ")}`);
                const x = known ? px(this.x(this.axis.stops[cursor])) : 0;
                if (panel.line) filled(panel.line, { x1: x, x2: x, visibility: known ? "visible" : "hidden" }, []);
            });
            this.bar.textContent = place || "Point or use the arrow keys to read, drag to zoom";
            this.bar.classList.toggle("reads", known);
            this.bar.setAttribute("aria-valuenow", cursor ?? 0);
            this.bar.setAttribute("aria-valuetext", known ? spoken.join("; ") : "no place chosen");
        }

        // -- Saving

        async save(type) {
            const text = inLight(() => {
                this.draw();
                return this.picture();
            });
            this.draw();
            const source = new Blob([text], { type: "image/svg+xml" });
            download(type === "svg" ? source : await png(text, this.width, this.saved), `truetail-${this.name}.${type}`);
        }

        /** All panels as one SVG that needs no style sheet. */
        picture() {
            const fonts = "Inter, 'Helvetica Neue', Arial, sans-serif";
            const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", "font-family": fonts });
            let y = 8;
            this.panels.forEach((panel, n) => {
                y += 16;
                let x = MARGIN.left;
                const write = (text, fill, weight) => {
                    const left = x;
                    x += text.length * 6.6 + 14;
                    return svg("text", { x: px(left), y: px(y - 3), "font-size": 12, fill, "font-weight": weight }, text);
                };
                root.append(write(panel.title, getComputedStyle(panel.legend).color, 600));
                panel.layers.forEach((layer, l) => {
                    if (!this.isShown(n, layer) || layer.kind === "heat" || !panel.entries[l]) return;
                    root.append(write(layer.name, getComputedStyle(panel.entries[l].swatch).color, 400));
                });
                if (panel.canvas && !panel.ramp.hidden) {
                    const shades = `the darker, the more: 1 to ${panel.layers[0].map.largest}`;
                    root.append(write(shades, getComputedStyle(panel.ramp).color, 400), svg("image", { x: MARGIN.left,
                        y: y + MARGIN.top, width: this.innerWidth, height: panel.height, href: panel.canvas.toDataURL() }));
                }
                root.append(filled(styled(panel.drawing), { y }, []));
                y += panel.size;
            });
            this.saved = y + 8;
            const paper = getComputedStyle(document.body).backgroundColor;
            root.prepend(svg("rect", { width: this.width, height: this.saved, fill: paper }));
            filled(root, { width: this.width, height: this.saved, viewBox: `0 0 ${this.width} ${this.saved}` }, []);
            return new XMLSerializer().serializeToString(root);
        }
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

    function unmap(panel, py) {
        const [from, to] = panel.yRange.map(panel.yScale.of);
        return panel.yScale.back(from + (to - from) * (1 - (py - MARGIN.top) / panel.height));
    }

    const rgb = color => color.match(/[\d.]+/g).slice(0, 3).map(Number);

    /** A canvas with a pixel for each cell. The colour stands for the logarithm of the count. */
    function cellImage(map, colors) {
        const canvas = html("canvas", { width: Math.max(1, map.cells.length), height: Math.max(1, map.rows) });
        const context = canvas.getContext("2d");
        const image = context.createImageData(canvas.width, canvas.height);
        const most = Math.log(map.largest) || 1;
        map.cells.forEach((cells, column) => cells.forEach(([row, n]) => {
            const place = map.largest === 1 ? 2 : Math.log(n) / most * 2;
            const [from, to] = place < 1 ? [colors[0], colors[1]] : [colors[1], colors[2]];
            const part = place < 1 ? place : place - 1;
            const pixel = 4 * (row * canvas.width + column);
            from.forEach((value, channel) => { image.data[pixel + channel] = value + (to[channel] - value) * part; });
            image.data[pixel + 3] = 255;
        }));
        context.putImageData(image, 0, 0);
        return canvas;
    }

    /** What `work` returns while the page is light. */
    function inLight(work) {
        const root = document.documentElement;
        root.style.colorScheme = "light";
        try { return work(); } finally { root.style.colorScheme = ""; }
    }

    /** A copy with the colours of the style sheet as attributes. */
    function styled(drawing) {
        const copy = drawing.cloneNode(true);
        const [sources, targets] = [drawing.querySelectorAll("*"), copy.querySelectorAll("*")];
        const names = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap",
            "stroke-linejoin", "font-size", "text-anchor"];
        sources.forEach((source, i) => {
            const style = getComputedStyle(source);
            names.forEach(name => targets[i].setAttribute(name, style.getPropertyValue(name)));
            targets[i].removeAttribute("class");
        });
        copy.removeAttribute("class");
        copy.querySelectorAll("[visibility=hidden]").forEach(element => element.remove());
        return copy;
    }

    async function png(text, width, height) {
        const image = new Image();
        image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
        await image.decode();
        const canvas = html("canvas", { width: width * 2, height: height * 2 });
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        return new Promise(done => canvas.toBlob(done, "image/png"));
    }

    function download(blob, name) {
        const href = URL.createObjectURL(blob);
        html("a", { href, download: name }).click();
        setTimeout(() => URL.revokeObjectURL(href), 10_000);
    }

    // ---- Charts of elements. Drawing again into the same element keeps zoom, cursor and what is switched off

    const charts = new WeakMap();

    /** What happens to all pictures of the page. */
    const every = work => document.querySelectorAll(".drawn-here").forEach(element => work(charts.get(element)));

    /** Draws a chart into `element`, or what keeps it from that. `group` is the element whose view it shares. */
    function draw(element, name, spec, group = element) {
        if (!spec) return;
        const known = charts.get(element) ?? new Chart(element, name);
        charts.set(element, known);
        const shared = charts.get(group)?.view;
        const view = shared ?? known.view ?? new View(spec.axis);
        view.follow(spec.axis);
        known.update(spec, view);
    }

    function timeChart(run, panels) {
        if (run.time.columns === 0) return null;
        const axis = timeAxis(run.time);
        return { axis, panels: panels(axis), at: "at" };
    }

    /** Heat map and lanes of a run (a PageRun or its series) with one cursor. */
    function overTime(element, run) {
        const series = run.series ?? run;
        draw(element, "over-time", timeChart(series, axis => [heatPanel(series), ...lanePanels(series, axis)]));
    }

    /** The percentile curves of several runs. `roles[i]` colours the curve of run i. */
    function percentiles(element, runs, { roles } = {}) {
        draw(element, "percentiles", percentileChart(runs, roles));
    }

    // ---- The page

    const SPECS = {
        heat: run => timeChart(run, () => [heatPanel(run)]),
        lanes: run => timeChart(run, axis => lanePanels(run, axis)),
        delay: run => timeChart(run, axis => [delayPanel(run, axis)]),
        gaps: gapChart,
        rate: rateChart,
    };
    const OVER_TIME = ["heat", "lanes", "delay"];

    /** Draws all pictures of the page that can be drawn from `data`. */
    function show(data) {
        // In a narrow window those that remain as they are scroll in their box, which the keyboard must reach.
        for (const picture of document.querySelectorAll(".picture")) {
            if (picture.scrollWidth > picture.clientWidth) picture.tabIndex = 0;
        }
        let first = null;
        const alike = data.runs.length > 1 && !document.querySelector('figure[data-picture="heat"]');
        const curves = () => percentileChart(data.runs, [], alike);
        for (const [name, spec] of [...Object.entries(SPECS), ["percentiles", curves]]) {
            const figure = document.querySelector(`figure[data-picture="${name}"]`);
            const drawn = figure && data.runs.length > 0 ? spec(data.runs[0].series) : null;
            if (figure && (drawn || data.live)) {
                const place = interactive(figure, drawn);
                first = OVER_TIME.includes(name) && drawn ? first ?? place : first;
                draw(place, name, drawn, OVER_TIME.includes(name) ? first : place);
            }
        }
    }

    /** Where the script draws. The static picture remains for paper. */
    function interactive(figure, drawn) {
        let place = figure.querySelector(":scope > .interactive");
        if (!place) {
            place = html("div", { class: "interactive" });
            place.textContent = "No data yet.";
            figure.querySelector(":scope > .picture").after(place);
            figure.classList.add("drawn");
        }
        return place;
    }

    // ---- A run that goes on

    /** Follows the run at `url` (server-sent events), until its page is complete. */
    function live(url) {
        const source = new EventSource(url);
        const state = html("p", { class: "live", role: "status" });
        document.querySelector("main").prepend(state);
        state.textContent = "This run is going on. The page follows it.";
        source.addEventListener("update", ({ data }) => {
            const update = JSON.parse(data);
            state.textContent = "This run is going on. The page follows it.";
            Object.entries(update.sections).forEach(([id, inner]) => renew(document.getElementById(id), inner));
            show(update.data);
        });
        source.addEventListener("end", ({ data }) => {
            source.close();
            document.open();
            document.write(JSON.parse(data).html);
            document.close();
        });
        source.addEventListener("error", () => {
            state.textContent = "The connection to the run is lost. What you see is how far the page could follow it.";
        });
    }

    /**
     * Replaces what truetail wrote into a section. The pictures that this script drew stay where they are, so that zoom, cursor
     * and focus do; what belongs to them is replaced around them. Opened details stay open.
     */
    function renew(section, inner) {
        if (!section) return;
        const open = [...section.querySelectorAll("details")].map(details => details.open);
        replaceAround(section, new DOMParser().parseFromString(inner, "text/html").body);
        section.querySelectorAll("details").forEach((details, i) => { details.open = open[i] ?? details.open; });
    }

    function replaceAround(old, fresh) {
        const kept = new Map();
        for (const figure of old.querySelectorAll(":scope > figure.drawn")) {
            const newer = fresh.querySelector(`:scope > figure[data-picture="${figure.dataset.picture}"]`);
            if (newer) kept.set(newer, figure);
        }
        [...old.childNodes].filter(node => ![...kept.values()].includes(node)).forEach(node => node.remove());
        let next = old.firstChild;
        for (const node of [...fresh.childNodes]) {
            const figure = kept.get(node);
            if (figure) {
                const place = figure.querySelector(":scope > .interactive");
                [...figure.childNodes].filter(child => child !== place).forEach(child => child.remove());
                const after = [...node.childNodes];
                const picture = after.findIndex(child => child.className === "picture");
                place.before(...after.slice(0, picture + 1));
                place.after(...after.slice(picture + 1));
                next = figure.nextSibling;
            } else {
                old.insertBefore(node, next);
            }
        }
    }

    // ---- Theme

    const THEMES = ["auto", "light", "dark"];

    // A page from a file may have no storage.
    const stored = {
        get() { try { return localStorage.getItem("truetail-theme"); } catch { return null; } },
        set(theme) { try { localStorage.setItem("truetail-theme", theme); } catch { /* the choice ends with the page */ } },
    };

    const redrawAll = () => every(chart => chart.draw());

    function themeButton() {
        const button = html("button", { type: "button", class: "theme" });
        const set = theme => {
            document.documentElement.dataset.theme = theme;
            button.textContent = `Theme: ${theme}`;
            redrawAll();
        };
        button.addEventListener("click", () => {
            const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
            set(next);
            stored.set(next);
        });
        set(THEMES.includes(stored.get()) ? stored.get() : "auto");
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
        return button;
    }

    function begin() {
        document.querySelector("body > header")?.prepend(themeButton());
        document.addEventListener("keydown", event => {
            if (event.key === "Escape") every(chart => chart.view.reset());
        });
        const element = document.getElementById("data");
        if (!element) return;
        const data = JSON.parse(element.textContent);
        show(data);
        if (data.live) live("/events");
    }

    window.truetail = { show, live, overTime, percentiles, figures: { time, timeRange, rate, share, quantileName, roundTime } };
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
    else begin();
})();
