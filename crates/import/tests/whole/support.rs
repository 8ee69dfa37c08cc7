//! Reads a stored file, and describes its content in one line.

use std::fs;
use std::path::Path;

use truetail_import::{Format, ImportError, ImportOptions, Likeness, all};
use truetail_run::{Claims, ForeignRequest, ForeignRun};

/// A stored file.
pub(crate) struct Case {
    /// Path below `testdata`.
    pub(crate) file: &'static str,
    /// The recognised format.
    pub(crate) format: &'static str,
    /// The content as [`said`] prints it.
    pub(crate) says: &'static str,
    /// A part of each note, in order.
    pub(crate) notes: &'static [&'static str],
}

pub(crate) fn bytes_of(file: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the formats that recognise a file.
pub(crate) fn recognised(bytes: &[u8]) -> Vec<&'static str> {
    let head = &bytes[..bytes.len().min(64 << 10)];
    let yes = all().iter().filter(|format| format.likeness(head) == Likeness::Yes);
    yes.map(|format| format.info().name).collect()
}

pub(crate) fn format(name: &str) -> &'static dyn Format {
    truetail_import::by_name(name).unwrap_or_else(|| panic!("no format {name}"))
}

/// Returns the run and its requests.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<(ForeignRun, Vec<ForeignRequest>), ImportError> {
    let mut requests = Vec::new();
    let mut input = bytes;
    let run = format(name).read(&mut input, &ImportOptions::default(), &mut |request| requests.push(*request))?;
    assert_eq!(run.requests, requests.len() as u64, "{name}");
    Ok((run, requests))
}

/// Describes a run: `send: 600 measured, 600 made, 0 failed, 100.2/s; p50 10.6ms … mean 93.6ms, max 1002.4ms; …`.
pub(crate) fn said(run: &ForeignRun, requests: &[ForeignRequest]) -> String {
    let ms = |ns: u64| format!("{:.3}", ns as f64 / 1e6);
    let Claims { latency_from, quantiles, mean_ns, max_ns, measured, requests: made, failed, dropped, rate_per_second } =
        &run.claims;
    let mut parts = vec![format!("{latency_from:?}")];
    parts.extend(run.version.iter().map(|version| format!("v{version}")));
    let counts = [("measured", measured), ("made", made), ("failed", failed), ("dropped", dropped)];
    parts.extend(counts.iter().filter_map(|(name, count)| Some(format!("{} {name}", (**count)?))));
    parts.extend(rate_per_second.map(|rate| format!("{rate:.2}/s")));
    let shown = [0.5, 0.9, 0.99, 0.999];
    let told = quantiles.iter().filter(|one| shown.contains(&one.q));
    parts.extend(told.map(|one| format!("p{} {}", one.q * 100.0, ms(one.value_ns))));
    parts.extend(mean_ns.map(|mean| format!("mean {}", ms(mean))));
    parts.extend(max_ns.map(|max| format!("max {}", ms(max))));
    if let Some(histogram) = &run.histogram {
        let at = |q| histogram.quantile(q).map_or(0, |value| value.0);
        parts.push(format!("histogram of {} p50 {} p99 {}", histogram.count(), ms(at(0.5)), ms(at(0.99))));
    }
    if let (Some(first), Some(last)) = (requests.first(), requests.last()) {
        let answers = requests.iter().filter(|request| request.outcome.is_response()).count();
        let slowest = requests.iter().map(|request| request.duration.0).max().unwrap_or_default();
        let (from, to) = (first.start_ns.unwrap_or_default(), last.start_ns.unwrap_or_default());
        parts.push(format!(
            "{} rows, {answers} answers, slowest {}, {:?} {from} to {to}",
            requests.len(),
            ms(slowest),
            run.clock.starts
        ));
    }
    let waits = requests.iter().map(|request| request.waited.0).filter(|wait| *wait > 0);
    if let Some(longest) = waits.clone().max() {
        parts.push(format!("{} waited, longest {}", waits.count(), ms(longest)));
    }
    parts.extend(run.load.users.map(|users| format!("{users} users")));
    parts.extend(run.load.rate_per_second.map(|rate| format!("planned {rate}/s")));
    parts.extend(run.load.model.map(|model| model.name().to_owned()));
    parts.push(format!("resolution {}", run.clock.duration_resolution_ns));
    if run.damage != truetail_run::Damage::default() {
        parts.push(format!("damage {:?}", run.damage));
    }
    parts.join(", ")
}

/// Checks every case and reports all that differ.
pub(crate) fn check(cases: &[Case]) {
    let mut differ = Vec::new();
    for Case { file, format, says, notes } in cases {
        let bytes = bytes_of(file);
        assert_eq!(recognised(&bytes), [*format], "{file}");
        let (line, noted) = match read(format, &bytes) {
            Ok((run, requests)) => (said(&run, &requests), run.notes),
            Err(error) => (format!("error: {error}"), Vec::new()),
        };
        let same_notes = noted.len() == notes.len() && noted.iter().zip(*notes).all(|(note, part)| note.contains(part));
        if line != *says || !same_notes {
            differ.push(format!("{file}\n  says  {line}\n  notes {noted:?}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
