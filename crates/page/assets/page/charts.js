// Charts of elements. Drawing again into the same element keeps zoom, cursor and what is switched off.

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
