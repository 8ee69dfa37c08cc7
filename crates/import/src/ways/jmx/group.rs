//! A thread group: its load, and its samplers in their order.

use super::element::Element;
use super::sampler;
use super::scope::{Scope, is_scope};
use super::text::Variables;
use crate::ways::load::Session;
use crate::ways::load::entry::{Entry, Load, Users};
use crate::ways::load::step::Step;
use crate::ways::load::text::{duration, number_text, plain_name};
use crate::ways::shown;

/// Limit on the requests of a session, and on the nesting of controllers.
const MAX_STEPS: usize = 1000;
const MAX_DEPTH: usize = 50;

/// A thread group that is being read.
pub(super) struct Group {
    variables: Variables,
    steps: Vec<Step>,
    waiting: Vec<String>,
    marked: usize,
    keys: Vec<(&'static str, String)>,
}

impl Group {
    pub(super) fn read(group: &Element, scope: &Scope, variables: &Variables) -> Self {
        let variables = variables.clone();
        let mut read = Group { variables, steps: Vec::new(), waiting: Vec::new(), marked: 0, keys: Vec::new() };
        read.elements(&group.children, scope);
        read
    }

    fn elements(&mut self, elements: &[Element], around: &Scope) {
        let mut scope = around.clone();
        scope.take(elements, &mut self.variables);
        for element in elements {
            match element.class.as_str() {
                "HTTPSamplerProxy" | "HTTPSampler2" | "HTTPSampler" if self.steps.len() < MAX_STEPS => {
                    self.sampler(element, &scope);
                }
                "TransactionController" | "GenericController" if scope.path.len() < MAX_DEPTH => {
                    self.controller(element, &scope);
                }
                "OnceOnlyController" if scope.path.len() < MAX_DEPTH => {
                    self.waiting.push("changed: once for each thread in JMeter, and here in each session".to_owned());
                    self.controller(element, &scope);
                }
                "CSVDataSet" => self.rows(element),
                class if is_scope(class) => {}
                _ => self.mark(element),
            }
        }
    }

    fn controller(&mut self, element: &Element, scope: &Scope) {
        let mut inner = scope.clone();
        inner.path.push(element.name.clone());
        self.elements(&element.children, &inner);
    }

    fn mark(&mut self, element: &Element) {
        let requests = requests_in(element, 0);
        let inside = if requests > 0 { format!(" (requests in it: {requests})") } else { String::new() };
        self.marked += 1;
        self.waiting.push(format!("not read: {} '{}'{inside}", shown(&element.class), shown(&element.name)));
    }

    fn sampler(&mut self, element: &Element, scope: &Scope) {
        let mut scope = scope.clone();
        scope.take(&element.children, &mut self.variables);
        for child in &element.children {
            if !is_scope(&child.class) {
                self.mark(child);
            }
        }
        let read = sampler::read(element, &scope, &mut self.variables);
        let unread: Vec<String> = self.variables.unread.drain(..).collect();
        let marks = unread.into_iter().map(|function| format!("the function {}", shown(&function)));
        match read {
            Some(mut read) => {
                let marks: Vec<String> = marks.chain(read.unread).map(|mark| format!("not read: {mark}")).collect();
                self.marked += marks.len();
                read.step.marks = std::mem::take(&mut self.waiting);
                read.step.marks.extend(marks);
                self.steps.push(read.step);
            }
            None => self.mark(element),
        }
    }

    fn rows(&mut self, element: &Element) {
        let file = self.variables.literal(element.text("filename")).filter(|file| !file.is_empty());
        match file.filter(|_| element.text("variableNames").trim().is_empty()) {
            Some(file) => self.keys.push(("data-from", crate::ways::load::entry::quoted(&file))),
            None => {
                self.marked += 1;
                let file = shown(element.text("filename"));
                let names = shown(element.text("variableNames"));
                self.waiting
                    .push(format!("not read: the rows of {file}: write '{names}' as its first line, and data-from"));
            }
        }
    }

    /// Returns the session.
    pub(super) fn session(self) -> Session {
        let captured: Vec<&String> =
            self.steps.iter().flat_map(|step| &step.checks.captures).map(|(name, _)| name).collect();
        let needed = self.variables.needed.iter().filter(|name| !captured.contains(name)).cloned().collect();
        Session {
            steps: self.steps,
            pause: None,
            comments: self.waiting,
            marked: self.marked,
            needed,
            given: self.variables.given,
        }
        .settled()
    }

    /// Returns the entry of `group`.
    pub(super) fn entry(mut self, group: &Element) -> Entry {
        let mut load = self.load(group);
        load.keys.append(&mut self.keys);
        Entry {
            name: plain_name(group.name.trim()),
            file: String::new(),
            session: self.session(),
            load,
            has_setup: false,
        }
    }

    fn load(&mut self, group: &Element) -> Load {
        let mut load = Load::default();
        if group.class == "OpenModelThreadGroup" {
            let schedule = group.text("OpenModelThreadGroup.schedule");
            match self.variables.literal(schedule).as_deref().and_then(open_model) {
                Some(keys) => keys.iter().for_each(|(key, value)| load.text(key, value)),
                None => load.remarks.push(format!("not read: the schedule {}", shown(schedule))),
            }
            return load;
        }
        let count = self.variables.number(group.text("ThreadGroup.num_threads")).unwrap_or(1.0);
        let ramp = self.variables.number(group.text("ThreadGroup.ramp_time")).unwrap_or(0.0);
        let stages = (ramp > 1.0).then(|| format!("beginning over {} s", number_text(ramp)));
        let seconds = self.variables.number(group.text("ThreadGroup.duration"));
        let seconds = seconds.filter(|seconds| *seconds > 0.0 && group.is("ThreadGroup.scheduler"));
        if let Some(seconds) = seconds {
            load.text("duration", &duration(seconds));
        }
        let controller = group.parts("ThreadGroup.main_controller").first();
        let loops = controller.and_then(|controller| self.variables.number(controller.text("LoopController.loops")));
        let loops = loops.filter(|loops| *loops > 0.0);
        if let Some(loops) = loops {
            load.keys.push(("requests", number_text(loops * count)));
        }
        // Users who join over time cannot share out a number of requests, and a ramp-up alone has no end.
        let over_time = stages.as_ref().filter(|_| seconds.is_some() && loops.is_none());
        let over_time = over_time.and_then(|_| format!("0..{}/{}", number_text(count), duration(ramp)).parse().ok());
        load.users = Some(Users { count: Some(count), stages, over_time });
        load
    }
}

fn requests_in(element: &Element, depth: usize) -> usize {
    let below = element.children.iter().filter(|_| depth < MAX_DEPTH);
    usize::from(element.class.starts_with("HTTPSampler"))
        + below.map(|child| requests_in(child, depth + 1)).sum::<usize>()
}

/// Returns keys for a schedule such as `rate(10/s) random_arrivals(1 min)`, and for one whose rate changes.
fn open_model(schedule: &str) -> Option<Vec<(&'static str, String)>> {
    let mut stages = Vec::new();
    let mut rate: Option<f64> = None;
    let mut pending: Option<(f64, f64)> = None;
    let mut spacing = None;
    let mut rest = schedule.trim();
    while !rest.is_empty() {
        let open = rest.find('(')?;
        let close = rest.find(')')?;
        let inside = rest.get(open + 1..close)?.trim();
        match rest[..open].trim() {
            "rate" => {
                let next = per_second(inside)?;
                // A rate after a stage is the one that the stage reaches.
                if let Some((from, seconds)) = pending.take() {
                    stages.push((from, next, seconds));
                }
                rate = Some(next);
            }
            arrivals @ ("random_arrivals" | "even_arrivals") => {
                let from = rate?;
                if let Some((before, seconds)) = pending.take() {
                    stages.push((before, from, seconds));
                }
                let this = if arrivals == "even_arrivals" { "even" } else { "poisson" };
                if spacing.is_some_and(|spacing| spacing != this) {
                    return None;
                }
                spacing = Some(this);
                pending = Some((from, seconds_of(inside)?));
            }
            _ => return None,
        }
        rest = rest[close + 1..].trim_start();
    }
    if let Some((from, seconds)) = pending {
        stages.push((from, from, seconds));
    }
    let spacing = ("spacing", spacing?.to_owned());
    match stages.as_slice() {
        [(from, to, seconds)] if from == to => {
            Some(vec![("rate", format!("{}/s", number_text(*from))), ("duration", duration(*seconds)), spacing])
        }
        [_, ..] => {
            let stage = |(from, to, seconds): &(f64, f64, f64)| {
                let rates =
                    if from == to { number_text(*to) } else { format!("{}..{}", number_text(*from), number_text(*to)) };
                format!("{rates}/{}", duration(*seconds))
            };
            Some(vec![("profile", stages.iter().map(stage).collect::<Vec<_>>().join(",")), spacing])
        }
        [] => None,
    }
}

/// Returns arrivals a second for `10/s`, `5 / min`.
fn per_second(text: &str) -> Option<f64> {
    let (count, unit) = text.split_once('/')?;
    let count: f64 = count.trim().parse().ok()?;
    Some(count / seconds_of(&format!("1 {}", unit.trim()))?)
}

/// Returns the seconds of `30 s`, `2 min`, `1h`.
fn seconds_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = text[..end].parse().ok()?;
    let unit = match text[end..].trim() {
        "ms" => 0.001,
        "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    };
    Some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_of_the_open_model_are_rates_and_profiles() {
        let keys = |schedule: &str| {
            let keys = open_model(schedule)?;
            Some(keys.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" "))
        };
        for (schedule, wanted) in [
            ("rate(1000/s) random_arrivals(30 s)", Some("rate=1000/s duration=30s spacing=poisson")),
            ("rate(60/min) even_arrivals(2 min)", Some("rate=1/s duration=120s spacing=even")),
            ("rate(10/s) even_arrivals(5 s) rate(20/s)", Some("profile=10..20/5s spacing=even")),
            ("rate(1/s) even_arrivals(1 s) rate(3/s) even_arrivals(2s)", Some("profile=1..3/1s,3/2s spacing=even")),
            ("rate(10/s) pause(5 s)", None),
            ("rate(10/s", None),
            ("", None),
        ] {
            assert_eq!(keys(schedule).as_deref(), wanted, "{schedule}");
        }
    }
}
