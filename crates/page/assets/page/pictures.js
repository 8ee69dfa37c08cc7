// The pictures of a report's page.

const SPECS = {
    heat: run => timeChart(run, () => [heatPanel(run)]),
    lanes: run => timeChart(run, axis => lanePanels(run, axis)),
    "event-gaps": run => run.streams ? timeChart(run.streams, () => [gapPanel(run)]) : null,
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
