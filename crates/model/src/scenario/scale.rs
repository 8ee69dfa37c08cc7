//! Scales a scenario to a shorter or longer run.

use super::Scenario;
use super::bounds::end_by_count;
use crate::arrival::{Horizon, Profile, Schedule, Sine, Stage, Stages};
use crate::time::{Nanos, Timestamp};
use crate::workload::LoadModel;

/// Error of a scenario that cannot be scaled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScaleError {
    /// The new duration is zero.
    #[error("a run of 0s has no requests; set a duration above zero")]
    Zero,
    /// The scenario ends by a count, at an instant that is not known beforehand.
    #[error("this scenario has no duration, so it cannot be scaled; set one in [workload]")]
    NoDuration,
}

impl Scenario {
    /// Scales the scenario to a run of `duration`. Instants and lengths of workload and faults are multiplied by
    /// `duration` / the old duration. So each fault covers the same share of the run, and quantiles fall among the same
    /// requests.
    ///
    /// | scaled | kept |
    /// |---|---|
    /// | duration, count of requests, warm-up, steps, ramps and periods of the profile | rates, users, think time |
    /// | stages of users | |
    /// | start and length of stalls and ramps | the service's baseline, ramp targets |
    /// | `at` and `for` of other faults | `pause`, `over` |
    ///
    /// A shorter stall holds requests for less time: a stall of 1 s in 60 s gives p99 = 410 ms, and the scaled stall of
    /// 0.1 s in 6 s gives p99 = 50 ms. Times of the service itself stay, because they have a meaning of their own. A
    /// recording is cut, because stretching would change its rate. The drain limit never becomes shorter.
    ///
    /// # Errors
    /// [`ScaleError`] if a duration is zero or unknown, as when a count ends a closed model or exponential gaps.
    pub fn scaled_to(&self, duration: Nanos) -> Result<Scenario, ScaleError> {
        if duration.is_zero() {
            return Err(ScaleError::Zero);
        }
        let scale = Scale { from: self.known_duration().ok_or(ScaleError::NoDuration)?, to: duration };
        let mut scaled = self.clone();
        scale.model(&mut scaled.workload.model);
        let limits = &mut scaled.workload.limits;
        limits.drain = limits.drain.max(Nanos(scale.whole(limits.drain.0)));
        scaled.workload.warmup = scale.time(self.workload.warmup);
        scaled.service.all_faults_mut().for_each(|fault| {
            fault.map_times(|instant| scale.instant(instant), |length| scale.length(length));
        });
        Ok(scaled)
    }

    fn known_duration(&self) -> Option<Nanos> {
        let by_count = || match &self.workload.model {
            LoadModel::Open(schedule) => end_by_count(schedule).map(Timestamp::since_origin),
            LoadModel::Closed { .. } | LoadModel::PartlyOpen { .. } => None,
        };
        self.workload.model.horizon().duration.or_else(by_count).filter(|duration| !duration.is_zero())
    }
}

#[derive(Clone, Copy)]
struct Scale {
    from: Nanos,
    to: Nanos,
}

impl Scale {
    fn whole(self, n: u64) -> u64 {
        let (from, to) = (u128::from(self.from.0), u128::from(self.to.0));
        u64::try_from((u128::from(n) * to + from / 2) / from).unwrap_or(u64::MAX)
    }

    /// Scales a time since the origin. A time before the end stays before the end, despite rounding.
    fn time(self, time: Nanos) -> Nanos {
        let scaled = Nanos(self.whole(time.0));
        if time < self.from { scaled.min(Nanos(self.to.0 - 1)) } else { scaled }
    }

    fn instant(self, instant: Timestamp) -> Timestamp {
        Timestamp(self.time(instant.since_origin()).0)
    }

    /// Scales a length, which becomes neither zero nor endless.
    fn length(self, length: Nanos) -> Nanos {
        Nanos(self.whole(length.0).clamp(1, u64::MAX - 1))
    }

    fn model(self, model: &mut LoadModel) {
        match model {
            LoadModel::Open(schedule) | LoadModel::PartlyOpen { sessions: schedule, .. } => self.schedule(schedule),
            LoadModel::Closed { users, horizon, .. } => {
                users.map_lengths(|length| self.length(length));
                self.horizon(horizon);
            }
        }
    }

    fn schedule(self, schedule: &mut Schedule) {
        self.horizon(&mut schedule.horizon);
        match &mut schedule.profile {
            Profile::Constant(_) | Profile::Trace(_) => {}
            Profile::Stages(stages) => {
                let scaled = |stage: &Stage| Stage { length: self.length(stage.length), ..*stage };
                *stages = Stages::new(stages.stages().iter().map(scaled).collect());
            }
            Profile::Sine(Sine { period, .. }) => *period = self.length(*period),
        }
    }

    /// Scales the end. The count shrinks with the time; an end by count also gets a time.
    fn horizon(self, horizon: &mut Horizon) {
        horizon.duration = Some(self.to);
        horizon.requests = horizon.requests.map(|requests| self.whole(requests).max(1));
    }
}
