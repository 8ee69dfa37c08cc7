// A view: the stretch of an axis that is shown and the cursor on it, shared by all charts of that axis.

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
        this.charts.forEach(chart => showCursor(chart));
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
