//! The load that a run or a callable is offered, from the arguments that both have.

use pyo3::prelude::*;
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, LoadModelKind, Workload};

use crate::arguments::{choice, count, length, profile, time, whole, wrong};

/// An argument that may be absent.
pub type Given<'py> = Option<Bound<'py, PyAny>>;

/// The arguments, as they came.
pub struct Load<'py> {
    pub rate: Given<'py>,
    pub duration: Given<'py>,
    pub warmup: Bound<'py, PyAny>,
    pub requests: Given<'py>,
    pub spacing: String,
    pub seed: Bound<'py, PyAny>,
    pub model: String,
    pub users: Given<'py>,
    pub think_time: Given<'py>,
    pub session_length: Given<'py>,
}

impl Load<'_> {
    /// The workload within `limits`. `usual_rate` is offered where nobody says another.
    pub fn workload(&self, usual_rate: Option<Rate>, limits: Limits) -> PyResult<Workload> {
        let kinds =
            [LoadModelKind::Open, LoadModelKind::Closed, LoadModelKind::PartlyOpen].map(|kind| (kind.name(), kind));
        let kind = choice("model", &self.model, &kinds)?;
        self.refuse_contradictions(kind)?;
        let warmup = time("warmup", &self.warmup)?;
        let think_time = self.think_time.as_ref().map_or(Ok(Nanos::ZERO), |given| time("think_time", given))?;
        let horizon = self.horizon(warmup)?;
        let model = match kind {
            LoadModelKind::Open => LoadModel::Open(self.schedule(usual_rate, horizon)?),
            LoadModelKind::Closed => LoadModel::Closed { users: self.users()?, think_time, horizon },
            LoadModelKind::PartlyOpen => LoadModel::PartlyOpen {
                sessions: self.schedule(usual_rate, horizon)?,
                requests_per_session: self.session_length()?,
                think_time,
            },
        };
        Ok(Workload { model, limits, warmup })
    }

    /// Arguments that belong to some models only.
    fn refuse_contradictions(&self, kind: LoadModelKind) -> PyResult<()> {
        use LoadModelKind::{Closed, Open, PartlyOpen};
        let bound: [(&str, bool, &[LoadModelKind]); 5] = [
            ("rate", self.rate.is_some(), &[Open, PartlyOpen]),
            ("users", self.users.is_some(), &[Closed]),
            ("think_time", self.think_time.is_some(), &[Closed, PartlyOpen]),
            ("session_length", self.session_length.is_some(), &[PartlyOpen]),
            ("requests", self.requests.is_some(), &[Open, Closed]),
        ];
        match bound.iter().find(|(_, given, models)| *given && !models.contains(&kind)) {
            None => Ok(()),
            Some((name, _, models)) => {
                let homes: Vec<_> = models.iter().map(|model| format!("model='{}'", model.name())).collect();
                let (homes, kind) = (homes.join(" or "), kind.name());
                Err(wrong(name, format!("it contradicts model='{kind}'; it goes with {homes}")))
            }
        }
    }

    /// Warm-up first, then the measured time.
    fn horizon(&self, warmup: Nanos) -> PyResult<Horizon> {
        let requests = self.requests.as_ref().map(|given| whole("requests", given, 1)).transpose()?;
        let measured = self.duration.as_ref().map(|given| length("duration", given)).transpose()?;
        if measured.is_none() && requests.is_none() {
            return Err(wrong(
                "duration",
                "without it the run has no end; write a time such as '60s', or give requests",
            ));
        }
        Ok(Horizon { duration: measured.map(|measured| warmup + measured), requests })
    }

    fn schedule(&self, usual_rate: Option<Rate>, horizon: Horizon) -> PyResult<Schedule> {
        let profile = match (&self.rate, usual_rate) {
            (Some(given), _) => profile("rate", given)?,
            (None, Some(usual)) => Profile::constant(usual),
            (None, None) => return Err(wrong("rate", "none given; write requests a second, such as rate=100")),
        };
        let spacing = choice("spacing", &self.spacing, &[("even", Spacing::Even), ("poisson", Spacing::Poisson)])?;
        Ok(Schedule { profile, spacing, seed: whole("seed", &self.seed, 0)?, horizon })
    }

    fn users(&self) -> PyResult<u32> {
        let given = self.users.as_ref();
        count("users", given.ok_or_else(|| wrong("users", "model='closed' needs to know how many, such as users=10"))?)
    }

    fn session_length(&self) -> PyResult<u32> {
        let missing = || wrong("session_length", "model='partly-open' needs the requests of a session, such as 5");
        count("session_length", self.session_length.as_ref().ok_or_else(missing)?)
    }
}
