// A chart: the panels of a picture that truetail drew, above each other, with one cursor. Its data are the picture's own
// elements; zooming is another `viewBox`.

const charts = new WeakMap();
const views = new Map();

/** Makes the picture of a figure readable and zoomable, or takes its newer form. Zoom, cursor and switches stay. */
function show(figure) {
    const data = figure.querySelector(':scope > .picture > script[type="application/json"]');
    figure.classList.toggle("drawn", data !== null);
    if (!data) return;
    if (!charts.has(figure)) charts.set(figure, new Chart(figure));
    charts.get(figure).update(JSON.parse(data.textContent));
}

class Chart {
    constructor(figure) {
        Object.assign(this, { figure, hidden: new Set(), linear: false, width: 0, panels: [] });
        this.bar = html("div", {
            class: "cursor", role: "slider", tabindex: 0, "aria-valuemin": 0, onkeydown: event => moveCursor(this, event),
            onfocus: () => this.view.cursor ?? this.view.step(1),
        });
        this.scaleButton = this.button("Linear scale", () => this.toggleScale());
        this.resetButton = this.button("Reset zoom", () => this.view.reset());
        const buttons = html("span", { class: "buttons" }, this.resetButton, this.scaleButton,
            this.button("Save SVG", () => save(figure, "svg")), this.button("Save PNG", () => save(figure, "png")));
        this.body = html("div", { class: "panels" });
        this.element = html("div", { class: "interactive" }, html("div", { class: "tools" }, this.bar, buttons), this.body);
        figure.querySelector(":scope > .picture").after(this.element);
        new ResizeObserver(() => this.element.clientWidth !== this.width && this.draw()).observe(this.element);
    }

    button(text, onclick) {
        return html("button", { type: "button", onclick }, text);
    }

    update({ axis, panels }) {
        if (!views.has(axis.key)) views.set(axis.key, new View());
        this.view = views.get(axis.key);
        this.view.charts.add(this);
        this.view.follow({ ...axis, texts: axis.texts.split("|") });
        this.bar.setAttribute("aria-label", `Cursor: ${axis.name}`);
        this.bar.setAttribute("aria-valuemax", Math.max(0, axis.stops.length - 1));
        const shape = panels => JSON.stringify(panels.map(panel => [panel.title, panel.layers.map(layer => layer.name)]));
        const same = shape(panels) === shape(this.panels);
        const inner = this.figure.querySelectorAll(":scope > .picture svg.inner");
        this.panels = panels.map((panel, n) => {
            for (const layer of panel.layers) layer.texts = layer.texts?.split("|");
            return { ...(same ? this.panels[n] : this.build(panel, n)), ...panel, ...copied(inner[n], panels.length > 1 ? 0.75 : 0.85) };
        });
        if (!same) this.body.replaceChildren(...this.panels.map(panel => panel.box));
        this.panels.forEach(({ noted, note }) => { noted.textContent = note ?? ""; });
        this.scaleButton.hidden = !panels.some(panel => panel.linear);
        this.draw();
    }

    /** The elements of a panel: its legend, whose entries turn layers on and off, and its drawing. */
    build(panel, n) {
        const legend = html("div", { class: "legend" }, html("span", { class: "title" }, panel.title));
        const entries = [];
        const values = panel.layers.map(layer => {
            const key = this.key(n, layer);
            // Shades are in all panels; the first one's entry is for all of them.
            if (!layer.texts && n > 0) return null;
            const button = this.button("", () => {
                if (!this.hidden.delete(key)) this.hidden.add(key);
                button.setAttribute("aria-pressed", !this.hidden.has(key));
                this.draw();
            });
            filled(button, { "aria-pressed": String(!this.hidden.has(key)) },
                [html("i", { class: `swatch ${layer.line ? "" : "area"} ${layer.class}` }), layer.name]);
            const value = html("span", { class: "value" });
            entries.push([!layer.texts, html("span", { class: "entry" }, button, ...layer.texts ? [value] : [])]);
            return value;
        });
        legend.append(...entries.sort(([one], [other]) => one - other).map(([, entry]) => entry));
        const note = html("span", { class: "note" });
        legend.append(note);
        const drawing = svg("svg", { "aria-hidden": "true", class: "drawing" });
        const plot = html("div", { class: "plot" }, drawing);
        listen(this, plot, n);
        return { box: html("div", { class: "panel" }, legend, plot), values, noted: note, drawing };
    }

    key(n, layer) {
        return layer.texts ? `${n} ${layer.name}` : layer.name;
    }

    isShown(n, layer) {
        return !this.hidden.has(this.key(n, layer));
    }

    toggleScale() {
        this.linear = !this.linear;
        this.scaleButton.textContent = this.linear ? "Log scale" : "Linear scale";
        this.draw();
    }

    draw() {
        this.width = this.element.clientWidth;
        if (this.width === 0) return;
        this.innerWidth = Math.max(1, this.width - MARGIN.left - MARGIN.right);
        this.resetButton.hidden = !this.view.zoomed;
        this.panels.forEach((panel, n) => drawPanel(this, panel, n));
        showCursor(this);
    }

    /** Where a place on the axis is, in pixels. */
    x(place) {
        const { from, to } = this.view;
        return MARGIN.left + (place - from) / (to - from) * this.innerWidth;
    }
}
