// A chart: panels above each other with one cursor.

const MARGIN = { left: 58, right: 14, top: 8, bottom: 26 };

class Chart {
    constructor(element, name) {
        Object.assign(this, { element, name, hidden: new Set(), linear: false, width: 0, panels: [] });
        this.bar = html("div", {
            class: "cursor", role: "slider", tabindex: 0, "aria-valuemin": 0, onkeydown: event => moveCursor(this, event),
            onfocus: () => this.view.cursor ?? this.view.step(1),
        });
        this.scaleButton = this.button("Linear scale", () => this.toggleScale());
        this.resetButton = this.button("Reset zoom", () => this.view.reset());
        const buttons = html("span", { class: "buttons" }, this.resetButton, this.scaleButton,
            this.button("Save SVG", () => save(this, "svg")), this.button("Save PNG", () => save(this, "png")));
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
        listen(this, plot, n);
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

    draw() {
        this.width = this.element.clientWidth;
        if (this.width === 0) return;
        this.innerWidth = Math.max(1, this.width - MARGIN.left - MARGIN.right);
        const { from, to, zoomed, axis } = this.view;
        this.x = mapping(axis.scale, from, to, MARGIN.left, this.width - MARGIN.right);
        this.resetButton.hidden = !zoomed;
        this.panels.forEach((panel, n) => drawPanel(this, panel, n));
        const isLog = panel => panel.log !== undefined && this.isLog(panel);
        this.scaleButton.textContent = this.panels.some(isLog) ? "Linear scale" : "Log scale";
        showCursor(this);
    }

    /** `linear` turns each scale that can be turned. */
    isLog(panel) {
        return panel.log !== undefined && panel.log !== this.linear;
    }
}
