//! A sweep over rates, as text with a chart.

use truetail_analysis::figures::quantile_name;
use truetail_analysis::sweep::{StepState, Sweep, SweepStep};

use crate::number;
use crate::style::{Emphasis, Style};
use crate::sweep::Column;
use crate::sweep::{SweepReport, measured, state_word, step_value, sweep_columns, time_label};
use crate::table::{Align, TextTable};

/// Columns and lines of the chart, without its axes.
const CHART: (usize, usize) = (56, 10);
/// Marks of sweeps in a chart of several.
const LETTERS: [char; 8] = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];

/// Returns one line for a finished step.
pub fn sweep_line(step: &SweepStep, style: Style) -> String {
    let answered = step.answered_per_second.map_or(String::new(), |rate| format!(", answered {}", number::rate(rate)));
    let first = step.times.first();
    let best = first.and_then(|time| time.quantiles.iter().rfind(|quantile| quantile.value_ns.is_some()));
    let time = first.zip(best).map_or(String::new(), |(time, best)| {
        format!(", {} {} {}", time_label(&time.name), quantile_name(best.q), step_value(best))
    });
    style.printable(&format!("{} {}{answered}{time}", number::rate(step.rate), state_word(step.state)))
}

/// Returns the text for the terminal.
pub fn sweep_text(report: &SweepReport, style: Style) -> String {
    let sweep = &report.sweep;
    let about = format!(
        "{}: {} of {} rates, {} each",
        sweep.target,
        sweep.steps.len(),
        sweep.planned_rates.len(),
        number::round_time((sweep.step_s * 1e9) as u64)
    );
    let mut text = String::new();
    let mut push = |words: &str| style.wrap(words, style.columns()).iter().for_each(|line| text.extend([line, "\n"]));
    push(&about);
    report.sentences().iter().for_each(|sentence| push(sentence));
    if !sweep.steps.is_empty() {
        text.push('\n');
        text.extend(table(report, style).into_iter().map(|line| line + "\n"));
        text.push('\n');
        text.extend(chart(report, style).into_iter().map(|line| line + "\n"));
    }
    for line in style.wrap(&format!("Saved in {}, with a page: sweep.html", report.folder), style.columns()) {
        text.extend([line.as_str(), "\n"]);
    }
    text
}

fn table(report: &SweepReport, style: Style) -> Vec<String> {
    let columns = sweep_columns(&report.sweep, report.shown_quantile());
    let heads: Vec<(&str, Align)> = columns
        .iter()
        .map(|column| (column.head.as_str(), if column.head.is_empty() { Align::Left } else { Align::Right }))
        .collect();
    let minor: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].is_minor).collect();
    let mut table = TextTable::new(&heads);
    for step in &report.sweep.steps {
        let emphasis = match step.state {
            StepState::Valid => Emphasis::Good,
            StepState::Saturated | StepState::Invalid => Emphasis::Bad,
            StepState::Suspect | StepState::GeneratorLimit => Emphasis::Doubt,
        };
        let cell = |column: &Column| match column.head.is_empty() {
            true => style.emphasize(emphasis, &(column.cell)(step)),
            false => (column.cell)(step),
        };
        table.row(columns.iter().map(cell).collect());
    }
    table.fitting(style.columns(), &minor, style).lines(0, style)
}

/// A step as a place in the chart.
struct Mark {
    throughput: f64,
    time_ns: f64,
    mark: char,
}

/// Draws a quantile of the first time against throughput: one mark for each step, on a logarithmic vertical axis.
fn chart(report: &SweepReport, style: Style) -> Vec<String> {
    let time = report.first_time();
    let q = report.shown_quantile();
    let throughput = report.throughput();
    let named = report.named();
    let is_alone = named.len() == 1;
    let mark = |number: usize, state: StepState| match (is_alone, state == StepState::Saturated) {
        (true, false) if style.unicode => '●',
        (true, true) if style.unicode => '×',
        (true, false) => '*',
        (true, true) => 'x',
        (false, false) => LETTERS[number % LETTERS.len()],
        (false, true) => LETTERS[number % LETTERS.len()].to_ascii_lowercase(),
    };
    let marks_of = |(number, (_, sweep)): (usize, &(String, &Sweep))| {
        let of = |step: &SweepStep| {
            let time_ns = measured(step, &time, q)?.value_ns?.max(1) as f64;
            Some(Mark { throughput: throughput.of(step)?, time_ns, mark: mark(number, step.state) })
        };
        sweep.steps.iter().filter_map(of).collect::<Vec<_>>()
    };
    let marks: Vec<Mark> = named.iter().enumerate().flat_map(marks_of).collect();
    if marks.len() < 2 {
        return Vec::new();
    }
    let most = marks.iter().map(|mark| mark.throughput).fold(0.0, f64::max);
    let low = marks.iter().map(|mark| mark.time_ns).fold(f64::INFINITY, f64::min);
    let high = marks.iter().map(|mark| mark.time_ns).fold(0.0, f64::max);
    let (columns, lines) = CHART;
    let mut cells = vec![vec![' '; columns]; lines];
    for Mark { throughput, time_ns, mark } in &marks {
        let across = if most > 0.0 { throughput / most } else { 0.0 };
        let up = if high > low { libm::log10(time_ns / low) / libm::log10(high / low) } else { 0.0 };
        let column = (across * (columns - 1) as f64).round() as usize;
        let line = lines - 1 - (up * (lines - 1) as f64).round() as usize;
        cells[line.min(lines - 1)][column.min(columns - 1)] = *mark;
    }
    let [top, bottom] = [high, low].map(|ns| number::time(ns as u64));
    let width = top.chars().count().max(bottom.chars().count());
    let (side, foot, corner) = if style.unicode { ('│', '─', '└') } else { ('|', '-', '+') };
    let line = |(number, cells): (usize, &Vec<char>)| {
        let label = match number {
            0 => top.as_str(),
            _ if number == lines - 1 => bottom.as_str(),
            _ => "",
        };
        format!("{label:>width$} {side}{}", cells.iter().collect::<String>().trim_end())
    };
    let saturated = match is_alone {
        true => format!("{} saturated", mark(0, StepState::Saturated)),
        false => "small letters: saturated".to_owned(),
    };
    let head = format!("{} {} against {} ({saturated})", time_label(&time), quantile_name(q), throughput.name());
    let base = format!("{:width$} {corner}{}", "", foot.to_string().repeat(columns));
    let most = number::of_any_size(most);
    let scale = format!("{:width$}  0{most:>room$}", "", room = columns - 1);
    let legend = named.iter().enumerate().filter(|_| !is_alone);
    let legend = legend.map(|(number, (name, _))| format!("{}: {name}", mark(number, StepState::Valid)));
    let drawn = cells.iter().enumerate().map(line);
    let all = [head].into_iter().chain(drawn).chain([base, scale]).chain(legend);
    all.map(|line| style.printable(&line)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use truetail_analysis::capacity::Answer;
    use truetail_analysis::sweep::{EndedBy, SCHEMA, StepObjective, StepQuantile, StepTime};

    use super::*;
    use crate::sweep::Throughput;

    fn step(rate: f64, state: StepState, ms: u64) -> SweepStep {
        let quantile = |q: f64, ns: u64| StepQuantile {
            q,
            value_ns: Some(ns),
            low_ns: Some(ns - ns / 10),
            high_ns: Some(ns + ns / 10),
            at_least: false,
        };
        let quantiles = |ns: u64| vec![quantile(0.5, ns / 2), quantile(0.9, ns), quantile(0.99, ns * 2)];
        let time = |name: &str, ns: u64| StepTime { name: name.to_owned(), quantiles: quantiles(ns) };
        let ns = ms * 1_000_000;
        let answer = if state == StepState::Valid { Answer::Meets } else { Answer::Misses };
        let answered = rate.min(10.0);
        SweepStep {
            rate,
            requests: (rate * 30.0) as u64,
            errors: 0,
            state,
            reason: (state != StepState::Valid).then(|| "the backlog kept growing".to_owned()),
            offered_per_second: Some(rate),
            answered_per_second: Some(answered),
            output_tokens_per_second: Some(answered * 32.0),
            goodput: None,
            objectives: vec![StepObjective { slo: "ttft p99 < 1s".to_owned(), answer, counted: 100, bad: 0 }],
            times: vec![time("ttft", ns), time("itl", ns / 10), time("tpot", ns / 10), time("response-time", ns * 4)],
            run: Some(format!("swept/step-{rate}")),
        }
    }

    /// A sweep of three rates, the last of them saturated.
    pub(crate) fn report() -> SweepReport {
        let sweep = Sweep {
            schema: SCHEMA.to_owned(),
            server: "model".to_owned(),
            target: "http://model/".to_owned(),
            slo: vec!["ttft p99 < 1s".to_owned()],
            goodput_slo: Vec::new(),
            step_s: 30.0,
            planned_rates: vec![4.0, 8.0, 16.0, 32.0],
            ended_by: Some(EndedBy::Saturated),
            steps: vec![
                step(4.0, StepState::Valid, 50),
                step(8.0, StepState::Valid, 80),
                step(16.0, StepState::Saturated, 5_000),
            ],
        };
        SweepReport { sweep, beside: Vec::new(), folder: "swept".to_owned() }
    }

    /// The text without the ends of its lines.
    fn unwrapped(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_screen_has_a_row_and_a_mark_for_each_rate_and_says_where_objectives_end() {
        let text = sweep_text(&report(), Style::default());
        for part in [
            "http://model/: 3 of 4 rates, 30s each",
            "The backlog kept growing at 16/s, so the sweep ended there; --past-saturation goes on.",
            "ttft p99 < 1s: met up to 8/s, missed at 16/s.",
            "TTFT p99 against output tokens per second",
            "Saved in swept, with a page: sweep.html",
        ] {
            assert!(unwrapped(&text).contains(part), "{part}: {text}");
        }
        let row = text.lines().find(|line| line.trim_start().starts_with("8/s")).expect("a row");
        assert!(row.contains("256") && row.contains("160.0ms") && row.contains("valid"), "{row}");
        let chart: String = text.lines().filter(|line| line.contains('│')).collect();
        assert_eq!((chart.matches('●').count(), chart.matches('×').count()), (2, 1), "{text}");
        assert!(chart.trim_start().starts_with("10.00s") && chart.contains("100.0ms"), "{chart}");
    }

    #[test]
    fn a_quantile_that_a_rate_lacks_is_not_drawn() {
        let mut report = report();
        report.sweep.steps[0].times[0].quantiles[2].value_ns = None;
        assert_eq!(report.shown_quantile(), 0.9);
        let text = sweep_text(&report, Style::default());
        assert!(text.contains("TTFT p90 against") && unwrapped(&text).contains("give --step more time"), "{text}");
        report.sweep.steps[0].times.clear();
        assert_eq!(report.shown_quantile(), 0.99, "a rate that truetail spoilt has no times at all");
    }

    #[test]
    fn bounds_and_invalid_rates_are_in_the_table_and_not_in_the_chart() {
        let marks = |report: &SweepReport| {
            let text = sweep_text(report, Style::default());
            let chart: String = text.lines().filter(|line| line.contains('│')).collect();
            (chart.matches('●').count(), chart.matches('×').count(), text)
        };
        let mut bounded = report();
        bounded.sweep.steps[2].times[0].quantiles[2].at_least = true;
        let (valid, saturated, text) = marks(&bounded);
        assert_eq!((valid, saturated), (2, 0), "{text}");
        assert!(text.contains("≥10.00s"), "{text}");
        let mut invalid = report();
        invalid.sweep.steps[1].state = StepState::Invalid;
        let (valid, saturated, text) = marks(&invalid);
        assert_eq!((valid, saturated), (1, 1), "{text}");
        assert!(text.contains("INVALID"), "{text}");
    }

    #[test]
    fn where_an_objective_holds_is_said_for_each_case() {
        for (answers, says) in [
            ([Answer::Meets, Answer::Open, Answer::Misses], "met up to 4/s, missed at 16/s."),
            ([Answer::Meets, Answer::Open, Answer::Meets], "met up to 4/s, and missed nowhere."),
            ([Answer::Open, Answer::Meets, Answer::Misses], "missed at 16/s, and open at 4/s, the lowest rate."),
            ([Answer::Misses, Answer::Meets, Answer::Meets], "missed at 4/s, the lowest rate."),
            ([Answer::Open, Answer::Meets, Answer::Meets], "open at 4/s, the lowest rate; a longer --step may tell."),
        ] {
            let mut report = report();
            report.sweep.steps.iter_mut().zip(answers).for_each(|(step, answer)| step.objectives[0].answer = answer);
            let sentences = report.sentences().join(" ");
            assert!(sentences.contains(&format!("ttft p99 < 1s: {says}")), "{says}: {sentences}");
        }
    }

    #[test]
    fn sweeps_beside_each_other_have_letters_and_names() {
        let mut both = report();
        let mut other = both.sweep.clone();
        other.target = "http://other/".to_owned();
        both.beside = vec![("elsewhere".to_owned(), other.clone())];
        let text = sweep_text(&both, Style::default());
        assert!(text.contains("A: http://model/\nB: http://other/"), "{text}");
        // The same server twice is told apart by its folders.
        other.target = "http://model/".to_owned();
        both.beside[0].1 = other.clone();
        assert!(sweep_text(&both, Style::default()).contains("A: swept\nB: elsewhere"));
        // Without tokens on one side, answers are compared.
        other.steps.iter_mut().for_each(|step| step.output_tokens_per_second = None);
        both.beside[0].1 = other;
        assert_eq!(both.throughput(), Throughput::Answers);
    }
}
