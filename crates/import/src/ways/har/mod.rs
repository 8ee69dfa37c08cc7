//! HAR 1.2 as a flow: a browser's recording, as a Hurl file.
//!
//! | file | what is in it |
//! |---|---|
//! | `entry` | an entry of the archive, and the request in it |
//! | `host` | an origin, and its variable in the flow |
//! | `choice` | choice of the entries that are steps |
//! | `left_out` | reasons why other entries are left out |
//! | `secrets` | secrets, and cookies that were set before the recording |

mod choice;
mod entry;
mod host;
mod left_out;
mod secrets;

use crate::ImportError;
use crate::har::entries as har_entries;
use crate::ways::{counted, shown};
use crate::whole::file::place_of;

use choice::Choice;
use entry::Recorded;
use left_out::LeftOut;
use secrets::Secrets;

/// Options for making a flow of an archive.
#[derive(Clone, Default, Debug)]
pub struct HarOptions {
    /// Keeps images, style sheets, scripts and fonts too.
    pub assets: bool,
    /// Origins to keep, such as `https://shop.example`. The default is the origin of the first page or request.
    pub origins: Vec<String>,
}

/// A flow that was made from an archive.
#[derive(Clone, Debug)]
pub struct HarFlow {
    /// The Hurl file.
    pub hurl: String,
    /// Notes about the flow.
    pub notes: Vec<String>,
    /// Number of its requests.
    pub requests: usize,
}

/// Makes a flow from an archive called `name`.
///
/// # Errors
/// [`ImportError`], if it is not HAR, or none of its requests can be sent again.
pub fn flow_of_har(bytes: &[u8], name: &str, options: &HarOptions) -> Result<HarFlow, ImportError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut left_out = LeftOut::default();
    let mut all = Vec::new();
    for raw in har_entries(bytes)? {
        match Recorded::parse(raw.get()) {
            Ok(recorded) => all.push(recorded),
            Err(cause) => left_out.count(cause),
        }
    }
    all.sort_by_key(|recorded| recorded.start_ns);
    let choice = Choice::new(all, &options.origins, options.assets, left_out);
    if choice.steps.is_empty() {
        return Err(ImportError::content(place_of(bytes, 0), choice.nothing()));
    }
    Ok(write(name, &choice))
}

fn write(name: &str, choice: &Choice) -> HarFlow {
    let secrets = Secrets::in_steps(&choice.steps);
    let mut steps = String::new();
    let mut overlapping = 0;
    let mut end_ns = None;
    let hosts = choice.hosts();
    for step in &choice.steps {
        let think_ns = end_ns.map_or(0, |end: u64| step.start_ns.saturating_sub(end));
        overlapping += usize::from(end_ns.is_some_and(|end| step.start_ns < end));
        end_ns = end_ns.max(Some(step.end_ns));
        steps.push('\n');
        step.write(&hosts, think_ns / 1_000_000, &mut steps);
    }
    let notes = notes(name, choice, overlapping, &secrets);
    let mut hurl = String::new();
    let variables =
        (8080..).zip(&hosts).map(|(port, host)| format!(" --variable {}=http://127.0.0.1:{port}", host.variable));
    let variables: String = variables.collect();
    let usage = [format!("truetail run --flow FILE -r 1 -d 10s{variables}"), format!("hurl{variables} FILE")];
    for line in notes.iter().chain(&usage) {
        hurl.push_str("# ");
        hurl.push_str(line);
        hurl.push('\n');
    }
    HarFlow { hurl: hurl + &steps, notes, requests: choice.steps.len() }
}

fn notes(name: &str, choice: &Choice, overlapping: usize, secrets: &Secrets) -> Vec<String> {
    let left_out = choice.left_out.text().map_or_else(String::new, |text| format!("; left out: {text}"));
    let requests = counted(choice.steps.len() as u64, "request");
    let whole = format!("{requests} to {} of {name}{left_out}", choice.origins.join(" and "));
    let hosts = choice.hosts();
    let named = (hosts.len() > 1).then(|| {
        let named = hosts.iter().map(|host| format!("{{{{{}}}}} is {}", host.variable, host.origin));
        named.collect::<Vec<_>>().join(", ")
    });
    let together = (overlapping > 0).then(|| {
        format!("{overlapping} of them began before the one before had ended; a flow sends them one after the other, without think time")
    });
    [Some(whole), named, together, secrets.cookies_note(), secrets.note()]
        .into_iter()
        .flatten()
        .map(|note| shown(&note))
        .collect()
}
