//! Arrivals of stripes without a run.

use truetail_model::arrival::{Horizon, Profile, ProfileError, Schedule, Trace};
use truetail_model::driver::{Driver, Stripe, WorkerShare};
use truetail_model::record::{Recorder, RecorderOptions, Snapshot};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel, LoadModelKind, Workload};

use super::error::MergeError;
use crate::wire::v1::IntervalWidth;
use crate::{OfferedLoad, Run, StripeFacts};

/// Returns the arrivals of the stripes `missing` of `of`, each as never issued. If answers decide what is sent next,
/// only arrivals that wait for no answer are included.
pub(super) fn never_issued(
    whole: &Run,
    missing: &[u32],
    of: u32,
    recording: Option<Trace>,
) -> Result<Snapshot, MergeError> {
    let is_recorded = profile_of(&whole.facts.offered).is_some_and(|profile| profile.is_err());
    let other = match (&recording, is_recorded) {
        (Some(_), false) => return Err(MergeError::NotRecorded),
        (Some(_), true) => MergeError::AnotherRecording,
        (None, _) => MergeError::HolesOfAnotherVersion,
    };
    let workload = workload_of(&whole.facts.offered, recording).ok_or(MergeError::UnknownHoles)?;
    let offered = whole.facts.stripe.as_ref().map(|stripe| &stripe.schedule);
    let mut held: Option<Snapshot> = None;
    for stripe in missing.iter().filter_map(|number| Stripe::numbered(*number, of)) {
        if offered != Some(&StripeFacts::new(stripe, &workload).schedule) {
            return Err(other);
        }
        let part = stripe_snapshot(&workload, stripe, whole);
        match &mut held {
            None => held = Some(part),
            Some(held) => held.merge(&part),
        }
    }
    held.ok_or(MergeError::UnknownHoles)
}

fn stripe_snapshot(workload: &Workload, stripe: Stripe, whole: &Run) -> Snapshot {
    let mut driver = Driver::new(&workload.for_stripe(stripe), WorkerShare { stripe, ..WorkerShare::WHOLE });
    let mut recorder = Recorder::new(RecorderOptions {
        measure_from: whole.snapshot.measure_from,
        expected_seconds: 0,
        per_second: IntervalWidth::from_snapshot(&whole.snapshot) != IntervalWidth::WholeRun,
        samples: whole.snapshot.samples.options(),
    });
    recorder.record_unissued(&mut driver, Timestamp(whole.facts.elapsed_ns));
    recorder.finish(driver.schedule_hash())
}

/// Returns the offered workload. `None` if `run.json` lacks a part of it, such as recorded instants. Also `None` if
/// requests were cancelled, because a missing stripe is counted in blocks, without its choice among them.
fn workload_of(offered: &OfferedLoad, recording: Option<Trace>) -> Option<Workload> {
    let horizon = Horizon { duration: offered.duration_ns.map(Nanos), requests: offered.requests };
    if horizon == Horizon::default() || offered.cancel.is_some() {
        return None;
    }
    let think_time = Nanos(offered.think_time_ns.unwrap_or(0));
    let model = match offered.model {
        LoadModelKind::Open => LoadModel::Open(schedule_of(offered, horizon, recording)?),
        LoadModelKind::Closed => LoadModel::Closed { users: users_of(offered)?, think_time, horizon },
        LoadModelKind::PartlyOpen => LoadModel::PartlyOpen {
            sessions: schedule_of(offered, horizon, recording)?,
            requests_per_session: offered.requests_per_session?,
            think_time,
        },
    };
    let limits = Limits {
        connections: offered.connections,
        connection_per_session: offered.connection_per_session,
        channels: None,
        timeout: offered.timeout_ns.map(Nanos),
        drain: Nanos(offered.drain_ns),
    };
    Some(Workload { model, limits, warmup: Nanos(offered.warmup_ns) })
}

fn users_of(offered: &OfferedLoad) -> Option<Users> {
    match &offered.users_over_time {
        Some(stages) => stages.parse().ok(),
        None => offered.users.map(Users::constant),
    }
}

/// Returns the profile, or an error if it is a recording: `run.json` does not contain its instants.
fn profile_of(offered: &OfferedLoad) -> Option<Result<Profile, ProfileError>> {
    Some(offered.profile.as_deref()?.parse())
}

fn schedule_of(offered: &OfferedLoad, horizon: Horizon, recording: Option<Trace>) -> Option<Schedule> {
    let profile = match recording {
        Some(trace) => Profile::Trace(trace),
        None => profile_of(offered)?.ok()?,
    };
    let spacing = offered.spacing.as_deref()?.parse().ok()?;
    Some(Schedule { profile, spacing, seed: offered.seed.unwrap_or_default(), horizon })
}
