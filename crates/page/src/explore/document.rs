//! The HTML of the page. The script fills in numbers and pictures.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::backend::Preset;
use super::settings::field::{Field, FieldSpec, Scale, Unit};
use super::settings::{MAX_REAL_RATE, MAX_SECONDS};
use crate::script;

const STYLES: [&str; 2] = [include_str!("../../assets/page.css"), include_str!("../../assets/explore.css")];

#[derive(Serialize)]
struct PageSettings<'a> {
    token: &'a str,
    presets: Vec<PresetData<'a>>,
}

#[derive(Serialize)]
struct PresetData<'a> {
    name: &'a str,
    about: &'a str,
    settings: String,
}

pub(super) fn document(presets: &[Preset], token: &str) -> String {
    let data = PageSettings { token, presets: presets.iter().map(preset_data).collect() };
    let page = html! {
        (DOCTYPE)
        html lang="en" data-theme="auto" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "truetail explore" }
                @for style in STYLES { style { (PreEscaped(style)) } }
            }
            body.explore {
                header { h1 { "See coordinated omission" } }
                main id="explore" {
                    (introduction())
                    (preset_choice(presets))
                    noscript { p.none { "This page needs its script. `truetail simulate` prints the same numbers." } }
                    div.playground {
                        (curves())
                        form id="settings" aria-label="Settings" { (controls()) }
                        (timeline())
                        (table())
                        (real())
                    }
                }
                footer { p { "truetail " (env!("CARGO_PKG_VERSION")) ". Everything on this page happens on this machine." } }
                script type="application/json" id="explore-data" { (PreEscaped(json(&data))) }
                @for script in [script::PAGE, script::EXPLORE] { script { (PreEscaped(script)) } }
            }
        }
    };
    page.into_string()
}

fn preset_data(preset: &Preset) -> PresetData<'_> {
    PresetData { name: &preset.name, about: &preset.about, settings: preset.settings.to_query() }
}

/// Formats JSON that cannot end its HTML element.
fn json(data: &PageSettings<'_>) -> String {
    let json = serde_json::to_string(data).expect("every key is a text and every value has a JSON form");
    json.replace('<', "\\u003c")
}

fn introduction() -> Markup {
    html! {
        p.lead {
            "Many load tools wait for each answer before they send the next request. While the server stalls, such a tool sends "
            "nothing, so it never measures the requests that users would have sent in that time. Its percentiles then describe "
            "a server without stalls. This is coordinated omission. Move a slider and watch it grow and vanish."
        }
    }
}

fn preset_choice(presets: &[Preset]) -> Markup {
    html! {
        div.presets {
            label for="preset" { "Start from" }
            select id="preset" {
                @for preset in presets { option value=(preset.name) { (preset.name) } }
                option value="" hidden { "your own settings" }
            }
            button type="button" id="copy-link" { "Copy link" }
            span.faint id="copied" role="status" {}
        }
        p.faint id="about" {}
    }
}

fn curves() -> Markup {
    html! {
        section.curves aria-labelledby="curves-heading" {
            h2 id="curves-heading" { "Response time by percentile" }
            p id="summary" role="status" {}
            p.problem id="problem" role="alert" hidden {}
            figure id="curves" data-picture="curves" { div.picture {} }
            ul.explained {
                li { i.swatch.s-closed {} b { "Closed loop" } ": users who each wait for their answer before they send again." }
                li {
                    i.swatch.s-corrected {} b { "Corrected" }
                    ": the closed loop with HdrHistogram's correction, which adds the values that the missing requests would "
                    "probably have had."
                }
                li { i.swatch.s-response {} b { "Open loop" } ": requests on a schedule that does not wait for answers, timed from when they were due." }
                li { i.swatch.s-truth {} b { "Truth" } ": what a perfect client measures on that schedule, computed exactly." }
            }
            div id="notes" {}
            p.faint id="verdict" {}
        }
    }
}

fn timeline() -> Markup {
    html! {
        section.timeline aria-labelledby="timeline-heading" {
            h2 id="timeline-heading" { "Requests that were never sent" }
            p {
                "Each dot is a request: when it was due, and how long it took; a large dot got no answer. Blue dots are ghosts: "
                "requests that the schedule planned and that the closed loop never sent, drawn with the response time they had in "
                "the open loop."
            }
            div.choice {
                label for="view" { "Show" }
                select id="view" {
                    option value="stall" { "the time around the first stall" }
                    option value="whole" { "the whole run" }
                }
            }
            figure id="requests" data-picture="requests" { div.picture {} }
            details.data { summary { "Table" } div.scroll tabindex="0" role="region" aria-label="Requests over time" id="requests-table" {} }
        }
    }
}

fn table() -> Markup {
    html! {
        section.in-numbers aria-labelledby="numbers-heading" {
            h2 id="numbers-heading" { "In numbers" }
            div.scroll tabindex="0" role="region" aria-label="Percentiles of each way of measuring" id="numbers" {}
            p.faint {
                "Simulated in virtual time, exact to the nanosecond. "
                "The last column says how many times larger the truth is than what the closed loop reports."
            }
        }
    }
}

fn real() -> Markup {
    html! {
        section.real aria-labelledby="real-heading" {
            h2 id="real-heading" { "Run it for real" }
            p {
                "Starts a server that misbehaves like this on 127.0.0.1, sends it the load, and lays the measured curve over "
                "the simulated one. A run may send up to " (MAX_REAL_RATE) " requests per second for up to " (MAX_SECONDS)
                " s, and waits at most 30 s for late answers."
            }
            p {
                label {
                    input type="checkbox" id="real-closed";
                    " Then measure the closed loop too, which takes as long again"
                }
            }
            p.buttons {
                button type="button" id="real-start" { "Run it for real" }
                button type="button" id="real-cancel" hidden { "Cancel" }
            }
            progress id="real-progress" max="1" aria-label="Progress of the run" hidden {}
            p id="real-status" role="status" {}
            p.problem id="real-problem" role="alert" hidden {}
            div id="real-result" {}
        }
    }
}

fn controls() -> Markup {
    html! {
        fieldset {
            legend { "Load" }
            (control(Field::Rate, "Requests per second on the schedule. The users of the closed loop try to reach it together."))
            (choice("spacing", "Gaps between requests", &[("even", "even"), ("poisson", "random, like independent users (Poisson)")]))
            (control(Field::Duration, "How long requests are sent."))
            (control(Field::Users, "Users of the closed loop. Rate times service time is as many as the rate needs while all is well."))
            (choice("closed-end", "The closed loop ends", &[
                ("duration", "after the duration"),
                ("requests", "after as many requests as the schedule has"),
            ]))
        }
        fieldset {
            legend { "Server" }
            (control(Field::Baseline, "Time to process one request while nothing is wrong."))
            (choice("variation", "It is", &[("constant", "always the same"), ("exponential", "random (exponential)")]))
            (control(Field::Concurrency, "Other requests wait in a queue, first in, first out."))
        }
        (group("stall", "The server stalls", html! {
            (control(Field::StallAt, "When the server stands still for the first time."))
            (control(Field::StallFor, "How long it stands still."))
            (control(Field::StallEvery, "From the start of one stall to the start of the next."))
            (control(Field::StallTimes, "How often it stalls in all."))
            (choice("stall-gate", "What waits", &[
                ("answers", "answers: work goes on, and they leave together"),
                ("arrivals", "requests: they are processed after the stall"),
            ]))
        }))
        (group("ramp", "The server slows down", html! {
            (control(Field::RampFrom, "When the service time begins to grow."))
            (control(Field::RampTo, "When it has reached its new value."))
            (control(Field::RampTarget, "The service time from then on."))
        }))
        (group("nth", "Every n-th request is slow", html! {
            (control(Field::NthEvery, "Requests n, 2n, 3n and so on are slow."))
            (control(Field::NthPause, "The service time of such a request."))
        }))
        fieldset {
            legend { "Client" }
            (control(Field::Connections, "A request that finds no free connection waits in the client."))
            (control(Field::Timeout, "A request without an answer is given up after this time."))
            (control(Field::Drain, "How long after the last request answers are awaited."))
        }
    }
}

/// Returns settings that are switched on and off together.
fn group(key: &str, label: &str, content: Markup) -> Markup {
    html! {
        fieldset data-group=(key) {
            legend { label { input type="checkbox" id={ (key) "-on" }; " " (label) } }
            (content)
        }
    }
}

fn control(field: Field, explanation: &str) -> Markup {
    let spec = field.spec();
    let is_whole = spec.unit == Unit::Count;
    html! {
        div.control data-field=(spec.key) data-scale=(if spec.scale == Scale::Log { "log" } else { "linear" })
            data-whole[is_whole] data-typical=(spec.typical) {
            @if let Some(switch) = spec.switch {
                label.switch { input type="checkbox" id={ (spec.key) "-on" }; " " (switch) }
            }
            div.value { (slider(&spec, is_whole)) }
            p.help id={ (spec.key) "-help" } { (explanation) }
        }
    }
}

fn slider(spec: &FieldSpec, is_whole: bool) -> Markup {
    let unit = spec.unit.symbol();
    let exact = if unit.is_empty() {
        format!("{}, exact", spec.label)
    } else {
        format!("{} in {}, exact", spec.label, spoken(spec.unit))
    };
    html! {
        label for={ (spec.key) "-slider" } { (spec.label) }
        input.slider type="range" id={ (spec.key) "-slider" } min="0" max="1000" step="1"
            aria-describedby={ (spec.key) "-help" };
        input.exact type="number" id=(spec.key) min=(spec.least) max=(spec.most) step=(if is_whole { "1" } else { "any" })
            aria-label=(exact);
        span.unit { (unit) }
    }
}

const fn spoken(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "",
        Unit::PerSecond => "requests per second",
        Unit::Seconds => "seconds",
        Unit::Milliseconds => "milliseconds",
    }
}

fn choice(key: &str, label: &str, words: &[(&str, &str)]) -> Markup {
    html! {
        div.choice {
            label for=(key) { (label) }
            select id=(key) data-choice=(key) {
                @for (value, word) in words { option value=(value) { (word) } }
            }
        }
    }
}
