//! A load as an entry of truetail.toml.

use super::session::Session;
use super::step::{Body, Step};
use super::text::{Part, number_text, written};

/// An entry, before it is written.
#[derive(Debug)]
pub(in crate::ways) struct Entry {
    pub(in crate::ways) name: String,
    /// File of its flow. Entries with the same session share one.
    pub(in crate::ways) file: String,
    pub(in crate::ways) session: Session,
    pub(in crate::ways) load: Load,
    /// True if a flow comes before the load.
    pub(in crate::ways) has_setup: bool,
}

/// Keys that all entries share.
#[derive(Debug, Default)]
pub(in crate::ways) struct Common {
    pub(in crate::ways) slo: Vec<String>,
    /// Other keys with their values.
    pub(in crate::ways) shared: Vec<(&'static str, String)>,
}

/// Arrivals of sessions.
#[derive(Debug, Default)]
pub(in crate::ways) struct Load {
    /// Keys of truetail.toml with their values.
    pub(in crate::ways) keys: Vec<(&'static str, String)>,
    /// Users, if each session waits for the one before.
    pub(in crate::ways) users: Option<Users>,
    pub(in crate::ways) remarks: Vec<String>,
}

/// Users, each with one session after the other.
#[derive(Debug)]
pub(in crate::ways) struct Users {
    /// Their number, or the first one; `None` if it cannot be read.
    pub(in crate::ways) count: Option<f64>,
    /// Their number over time in words, if it changes.
    pub(in crate::ways) stages: Option<String>,
    /// Their number over time as a run has it, if it changes and a run can have it.
    pub(in crate::ways) over_time: Option<truetail_model::users::Users>,
}

impl Load {
    /// Adds a key with a text.
    pub(in crate::ways) fn text(&mut self, key: &'static str, text: &str) {
        self.keys.push((key, quoted(text)));
    }
}

impl Entry {
    /// Returns true if no plain run says the same.
    pub(super) fn needs_flow(&self) -> bool {
        self.plain().is_none()
    }

    /// Returns true if the load is given in users but needs a rate, because it becomes a flow.
    pub(super) fn needs_rate(&self) -> bool {
        self.load.users.is_some() && self.needs_flow() && !self.session.steps.is_empty()
    }

    /// Returns the variables that the user has to give.
    pub(super) fn missing(&self) -> impl Iterator<Item = &str> {
        let given = &self.session.given;
        let is_flow = self.needs_flow();
        let needed = self.session.needed.iter().filter(move |name| is_flow && !given.contains_key(*name));
        needed.map(String::as_str)
    }

    /// Returns the keys of a closed run, if one says the same as the session: users who repeat a request.
    fn plain(&self) -> Option<Vec<(&'static str, String)>> {
        let users = self.load.users.as_ref().filter(|users| users.stages.is_none() || users.over_time.is_some())?;
        let [step] = self.session.steps.as_slice() else { return None };
        let pause = self.session.pause.as_deref();
        let is_plain = !self.has_setup
            && step.delay.is_none()
            && step.cookies.is_empty()
            && step.checks.captures.is_empty()
            && self.session.marked == 0
            && pause.is_none_or(|pause| !pause.contains(' '));
        let mut keys = request_keys(step).filter(|_| is_plain)?;
        keys.push(("model", quoted("closed")));
        let number = match &users.over_time {
            Some(stages) => quoted(&stages.to_string()),
            None => number_text(users.count?),
        };
        keys.push(("users", number));
        keys.extend(pause.map(|pause| ("think-time", quoted(pause))));
        Some(keys)
    }

    pub(super) fn toml(&self, common: &Common) -> String {
        if self.session.steps.is_empty() {
            return format!("# not read: {}, which has no request that can be read\n", self.name);
        }
        let mut out = format!("[run.{}]\n", self.name);
        let mut key = |key: &str, value: &str| out.push_str(&format!("{key} = {value}\n"));
        let plain = self.plain();
        match &plain {
            Some(keys) => keys.iter().for_each(|(name, value)| key(name, value)),
            None => key("flow", &quoted(&self.file)),
        }
        if plain.is_none() && self.has_setup {
            key("setup", &quoted("setup.hurl"));
        }
        self.load.keys.iter().chain(&common.shared).for_each(|(name, value)| key(name, value));
        let given = self.session.given.iter().filter(|(name, _)| self.session.needed.contains(*name));
        let given: Vec<String> = given.map(|(name, value)| format!("{name}={value}")).collect();
        if plain.is_none() && !given.is_empty() {
            key("variable", &list(&given));
        }
        if !common.slo.is_empty() {
            key("slo", &list(&common.slo));
        }
        let mut comment = |text: &str| out.push_str(&format!("# {text}\n"));
        if plain.is_some() && self.session.steps.iter().any(|step| step.redirects != Some(0)) {
            comment("changed: redirects are not followed, unlike in a flow");
        }
        self.load.remarks.iter().for_each(|remark| comment(remark));
        self.missing().for_each(|name| comment(&format!("give a value: --variable {name}=VALUE")));
        if let (Some(users), None) = (&self.load.users, &plain) {
            self.about_users(users).iter().for_each(|line| comment(line));
        }
        out
    }

    /// Returns comments about users, whose rate depends on how fast they are answered.
    fn about_users(&self, users: &Users) -> Vec<String> {
        let count = match users.count {
            Some(1.0) => "1 user".to_owned(),
            Some(count) => format!("{} users", number_text(count)),
            None => "? users".to_owned(),
        };
        let stages = users.stages.as_ref().map_or_else(String::new, |stages| format!(", then {stages}"));
        let mut lines = vec![
            format!("not read: {count}{stages}. Each begins when its session before has ended, so the rate"),
            "depends on the server. Sessions of a flow arrive at a rate, which you choose: rate = \"10/s\"".to_owned(),
        ];
        let pause = self.session.pauses().filter(|pause| *pause > 0.0 && users.stages.is_none());
        lines.extend(pause.zip(users.count).map(|(pause, count)| {
            let most = number_text((count / pause * 1000.0).round() / 1000.0);
            format!("Each pauses {} s in a session, so they begin at most {most} a second.", number_text(pause))
        }));
        lines
    }
}

fn request_keys(step: &Step) -> Option<Vec<(&'static str, String)>> {
    let body = match &step.body {
        Body::Nothing => &[][..],
        Body::Text(parts) => parts.as_slice(),
        Body::Form(_) => return None,
    };
    // A plain run takes braces of the script for its own placeholders.
    let is_changed = |part: &Part| match part {
        Part::Variable(_) => true,
        Part::Literal(text) => text.contains("{{"),
        Part::Made(_) => false,
    };
    let changes = |parts: &[Part]| parts.iter().any(is_changed);
    let texts = step.headers.iter().map(|(_, value)| value.as_slice());
    if texts.chain([step.url.as_slice(), body]).any(changes) || !step.checks.asserts.is_empty() {
        return None;
    }
    let mut keys = vec![("url", quoted(&step.written_url()))];
    if step.method != "GET" {
        keys.push(("method", quoted(&step.method)));
    }
    let headers = step.headers.iter().map(|(name, value)| format!("{name}: {}", written(value, str::to_owned)));
    let headers: Vec<String> = headers.collect();
    if !headers.is_empty() {
        keys.push(("header", list(&headers)));
    }
    if !body.is_empty() {
        keys.push(("data", quoted(&written(body, str::to_owned))));
    }
    keys.extend(step.timeout.as_ref().map(|timeout| ("timeout", quoted(timeout))));
    keys.extend(step.checks.status.map(|status| ("check", quoted(&format!("status == {status}")))));
    Some(keys)
}

fn list(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", quoted.join(", "))
}

/// Returns a text as TOML writes it, in the notation that it shares with JSON.
pub(in crate::ways) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
