// A view: the part of an axis that is shown and the cursor on it, shared by all charts of that axis. Places are shares
// of the whole axis.

class View {
    constructor() {
        Object.assign(this, { charts: new Set(), cursor: null, from: 0, to: 1, axis: null });
    }

    get zoomed() {
        return this.from > 0 || this.to < 1;
    }

    /** Takes a newer axis, of a run that goes on. What was zoomed stays as it is. */
    follow(axis) {
        if (this.zoomed) {
            const [start, end] = this.axis.range;
            const [first, last] = axis.range;
            const moved = place => Math.min(1, Math.max(0, (start + place * (end - start) - first) / (last - first)));
            [this.from, this.to] = [moved(this.from), moved(this.to)];
            if (!(this.to > this.from)) [this.from, this.to] = [0, 1];
        }
        this.axis = axis;
        if (this.cursor !== null && this.cursor >= axis.stops.length) this.cursor = null;
    }

    zoom(one, other) {
        const [from, to] = [Math.max(0, Math.min(one, other)), Math.min(1, Math.max(one, other))];
        if (this.axis.stops.filter(stop => stop >= from && stop <= to).length < 2) return;
        this.show(from, to);
    }

    reset() {
        if (this.zoomed) this.show(0, 1);
    }

    show(from, to) {
        Object.assign(this, { from, to });
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

    nearest(place) {
        const distance = stop => Math.abs(stop - place);
        return this.axis.stops.reduce((best, stop, i, stops) => distance(stop) < distance(stops[best]) ? i : best, 0);
    }
}
