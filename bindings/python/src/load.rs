//! The load of a run or a callable, from their shared arguments.

use pyo3::prelude::*;
use truetail_model::arrival::{Horizon, Schedule, SpacingError};
use truetail_model::time::Nanos;
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel, LoadModelKind, Workload};

use crate::arguments::{choice, count, positive_time, profile, time, users, value_error, whole_number};

/// An argument that may be `None`.
pub(crate) type OptionalArg<'py> = Option<Bound<'py, PyAny>>;

/// The arguments of a load, not yet converted.
pub(crate) struct LoadArguments<'py> {
    pub rate: OptionalArg<'py>,
    pub duration: OptionalArg<'py>,
    pub warmup: Bound<'py, PyAny>,
    pub requests: OptionalArg<'py>,
    pub spacing: String,
    pub seed: Bound<'py, PyAny>,
    pub model: String,
    pub users: OptionalArg<'py>,
    pub think_time: OptionalArg<'py>,
    pub session_length: OptionalArg<'py>,
    /// Measured time of a run that nothing else ends.
    pub usual_duration: Nanos,
}

/// Converts the limits of the generator. `cap` is the argument that limits concurrency, with its name.
pub(crate) fn limits(
    (name, cap): (&str, &OptionalArg<'_>),
    connection_per_session: bool,
    timeout: &OptionalArg<'_>,
    drain: &Bound<'_, PyAny>,
) -> PyResult<Limits> {
    Ok(Limits {
        connections: cap.as_ref().map(|given| count(name, given)).transpose()?,
        connection_per_session,
        channels: None,
        timeout: timeout.as_ref().map(|given| positive_time("timeout", given)).transpose()?,
        drain: time("drain", drain)?,
    })
}

impl LoadArguments<'_> {
    /// Converts the workload within `limits`. `what` is `calls` or `requests`.
    pub(crate) fn workload(&self, limits: Limits, what: &str) -> PyResult<Workload> {
        let kinds =
            [LoadModelKind::Open, LoadModelKind::Closed, LoadModelKind::PartlyOpen].map(|kind| (kind.name(), kind));
        let kind = choice("model", &self.model, &kinds)?;
        self.refuse_contradictions(kind)?;
        let warmup = time("warmup", &self.warmup)?;
        let think_time = self.think_time.as_ref().map_or(Ok(Nanos::ZERO), |given| time("think_time", given))?;
        let model = match kind {
            LoadModelKind::Open => LoadModel::Open(self.schedule(warmup, what)?),
            LoadModelKind::Closed => {
                let users = self.users()?;
                if self.requests.is_some() && !users.is_constant() {
                    let problem = "it cannot be dealt out to users who leave; leave it out, or give a constant users=N";
                    return Err(value_error("requests", problem));
                }
                let horizon = self.horizon(warmup, users.natural_length())?;
                LoadModel::Closed { users, think_time, horizon }
            }
            LoadModelKind::PartlyOpen => LoadModel::PartlyOpen {
                sessions: self.schedule(warmup, what)?,
                requests_per_session: self.session_length()?,
                think_time,
            },
        };
        Ok(Workload { model, limits, warmup })
    }

    /// Rejects arguments that do not apply to the load model.
    fn refuse_contradictions(&self, kind: LoadModelKind) -> PyResult<()> {
        use LoadModelKind::{Closed, Open, PartlyOpen};
        let applies_to: [(&str, bool, &[LoadModelKind]); 5] = [
            ("rate", self.rate.is_some(), &[Open, PartlyOpen]),
            ("users", self.users.is_some(), &[Closed]),
            ("think_time", self.think_time.is_some(), &[Closed, PartlyOpen]),
            ("session_length", self.session_length.is_some(), &[PartlyOpen]),
            ("requests", self.requests.is_some(), &[Open, Closed]),
        ];
        match applies_to.iter().find(|(_, given, models)| *given && !models.contains(&kind)) {
            None => Ok(()),
            Some((name, _, models)) => {
                let homes: Vec<_> = models.iter().map(|model| format!("model='{}'", model.name())).collect();
                let homes = homes.join(" or ");
                let kind = kind.name();
                Err(value_error(name, format!("it has no meaning with model='{kind}'; use it with {homes}")))
            }
        }
    }

    /// Returns the end of the schedule: the warm-up, then the measured duration. Without a duration and a number of
    /// requests, a profile of this length ends where it does.
    fn horizon(&self, warmup: Nanos, natural_length: Option<Nanos>) -> PyResult<Horizon> {
        let requests = self.requests.as_ref().map(|given| whole_number("requests", given, 1)).transpose()?;
        let measured = self.duration.as_ref().map(|given| positive_time("duration", given)).transpose()?;
        let duration = match (measured, requests) {
            (Some(measured), _) => Some(warmup + measured),
            (None, Some(_)) => None,
            (None, None) => natural_length.or(Some(warmup + self.usual_duration)),
        };
        Ok(Horizon { duration, requests })
    }

    fn schedule(&self, warmup: Nanos, what: &str) -> PyResult<Schedule> {
        let missing = || value_error("rate", format!("none given; write {what} per second, such as rate=100"));
        let profile = profile("rate", self.rate.as_ref().ok_or_else(missing)?)?;
        let horizon = self.horizon(warmup, profile.natural_length())?;
        let spacing = self.spacing.parse().map_err(|error: SpacingError| value_error("spacing", error.to_string()))?;
        Ok(Schedule { profile, spacing, seed: whole_number("seed", &self.seed, 0)?, horizon })
    }

    fn users(&self) -> PyResult<Users> {
        let given = self.users.as_ref();
        users(
            "users",
            given.ok_or_else(|| value_error("users", "model='closed' needs the number of users, such as users=10"))?,
        )
    }

    fn session_length(&self) -> PyResult<u32> {
        let missing =
            || value_error("session_length", "model='partly-open' needs the number of requests per session, such as 5");
        count("session_length", self.session_length.as_ref().ok_or_else(missing)?)
    }
}
