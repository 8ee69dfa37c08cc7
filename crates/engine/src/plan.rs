//! What the engine is asked to do.

use std::sync::Arc;

use truetail_model::arrival::RateProfile;
use truetail_model::record::SamplesOptions;
use truetail_model::time::Nanos;
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{EndClock, Http2, Mix, MixTarget, Offered, Timing};

use crate::preflight::{Preflight, PreflightError, preflight};
use crate::worker::Multiplexing;
use crate::{Endpoint, Requests, Target, host};

/// One run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is offered, and within which limits.
    pub workload: Workload,
    /// To whom.
    pub target: Target,
    /// Worker threads; `None`: as many as the load needs, at most one a processor.
    pub threads: Option<u32>,
    /// How many single requests to keep.
    pub samples: SamplesOptions,
    /// Whose instant ends a response time. The kernel's is to be had on Linux only; elsewhere answers bear no stamp.
    pub end_clock: EndClock,
    /// What workers do between two requests.
    pub timing: Timing,
    /// A connection is used again where the server allows it; else each request opens one of its own. The requests have to
    /// say so themselves (`Connection: close`). In HTTP/2 it is used again in any case.
    pub keep_alive: bool,
    /// Most requests in flight at once on one connection of HTTP/2; the server may allow fewer. `None`: as many as it does.
    pub max_streams: Option<u32>,
}

/// One worker for each so many requests a second, where the number of threads is left to the engine: about half of
/// what a core of a small machine can do, so that there is room to catch up.
const RATE_PER_WORKER: f64 = 25_000.0;

/// Files that are kept free for everything that is not a connection of the load.
const RESERVED_FILES: u64 = 18;
/// And of each worker: what it waits with. Reckoned as if all shared one table, as they do where none can have its own.
const FILES_OF_A_WORKER: u64 = 3;

/// Local ports that Linux hands out by default for one destination: 32768 to 60999.
const USUAL_LOCAL_PORTS: u32 = 28_232;

/// How many connections there may be, and why not more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EffectiveCap {
    /// Most connections at once.
    pub connections: u32,
    /// What sets it.
    pub reason: CapReason,
}

/// What sets the cap on connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapReason {
    /// The user asked for it.
    Asked,
    /// The limit on open files.
    OpenFiles,
    /// The local ports for one destination.
    LocalPorts,
    /// More users than connections do not exist in the closed model.
    Users,
    /// In HTTP/2 one connection carries many requests, and so each worker has one.
    Multiplexed,
}

impl Plan {
    /// A plan with everything left to the engine.
    pub fn new(workload: Workload, target: Target) -> Plan {
        Plan {
            workload,
            target,
            threads: None,
            samples: SamplesOptions::default(),
            end_clock: EndClock::Kernel,
            timing: Timing::Balanced,
            keep_alive: true,
            max_streams: None,
        }
    }

    /// The cap on connections that will be in force: what the user asked for, or what this machine can have.
    pub fn effective_cap(&self) -> EffectiveCap {
        if let Some(connections) = self.workload.limits.connections {
            return EffectiveCap { connections, reason: CapReason::Asked };
        }
        if self.target.speaks_http2() {
            let connections = self.threads_for_the_load().min(self.workload.max_workers());
            return EffectiveCap { connections, reason: CapReason::Multiplexed };
        }
        if let LoadModel::Closed { users, .. } = self.workload.model {
            return EffectiveCap { connections: users, reason: CapReason::Users };
        }
        let files = self.connections_for_files(host::open_files().map(|limit| limit.soft));
        let ports = match self.target.endpoint() {
            Endpoint::Tcp(_) => host::local_ports().unwrap_or(USUAL_LOCAL_PORTS),
            Endpoint::Unix(_) => u32::MAX,
        };
        if files < ports {
            EffectiveCap { connections: files, reason: CapReason::OpenFiles }
        } else {
            EffectiveCap { connections: ports, reason: CapReason::LocalPorts }
        }
    }

    /// Whose instant will end a response time: Linux stamps no answers that come through a socket in the file system.
    pub fn effective_end_clock(&self) -> EndClock {
        match self.target.endpoint() {
            Endpoint::Tcp(_) => self.end_clock,
            Endpoint::Unix(_) => EndClock::User,
        }
    }

    /// What is offered, to whom, with the cap that will be in force.
    pub fn offered(&self) -> Offered {
        Offered {
            url: Some(self.target.url()),
            method: self.target.method().map(|method| method.as_str().to_owned()),
            mix: mix(self.target.requests()),
            connections: Some(self.effective_cap().connections),
            http2: self.target.speaks_http2().then_some(Http2 { max_streams: self.max_streams }),
            ..Offered::of(&self.workload)
        }
    }

    /// How many workers there will be: never more than connections or users, so that each has work it can do.
    pub fn effective_threads(&self) -> u32 {
        let most = match self.workload.model {
            LoadModel::Closed { users, .. } => users.min(self.effective_cap().connections),
            _ => self.effective_cap().connections,
        };
        self.threads_for_the_load().min(most).max(1)
    }

    /// How many connections fit under a limit on open files.
    fn connections_for_files(&self, soft_limit: Option<u64>) -> u32 {
        let others = RESERVED_FILES + FILES_OF_A_WORKER * u64::from(self.threads_for_the_load());
        let free = soft_limit.unwrap_or(u64::MAX).saturating_sub(host::files_in_use() + others);
        u32::try_from(free).unwrap_or(u32::MAX).max(1)
    }

    /// How many workers the load needs, if nothing else stands against it.
    fn threads_for_the_load(&self) -> u32 {
        self.threads.unwrap_or_else(|| {
            let by_load = match &self.workload.model {
                LoadModel::Open(schedule) => schedule.profile.peak_per_second() / RATE_PER_WORKER,
                LoadModel::PartlyOpen { sessions, requests_per_session, .. } => {
                    sessions.profile.peak_per_second() * f64::from(*requests_per_session) / RATE_PER_WORKER
                }
                LoadModel::Closed { .. } => f64::INFINITY,
            };
            by_load.ceil().clamp(1.0, f64::from(host::cpus())) as u32
        })
    }

    /// How connections of HTTP/2 are shared among requests, for the worker that has `connections` of them; `None`: it is
    /// not what is spoken.
    pub(crate) fn multiplexing(&self, connections: u64) -> Option<Multiplexing> {
        let blocks = Arc::clone(self.target.blocks()?);
        Some(Multiplexing { blocks, most_streams: self.max_streams.unwrap_or(u32::MAX), connections })
    }
}

/// What the arrivals ask for, where they do not all ask for the same.
fn mix(requests: &Requests) -> Option<Mix> {
    let targets = requests.targets().iter().map(|target| MixTarget {
        method: target.method().as_str().to_owned(),
        url: target.url().to_owned(),
        weight: target.weight(),
    });
    (!requests.are_all_the_same()).then(|| Mix {
        targets: targets.collect(),
        rows: requests.rows(),
        order: (requests.rows() > 0).then(|| requests.order().name().to_owned()),
        seed: Some(requests.seed()),
        hash: format!("{:016x}", requests.hash()),
    })
}

/// More connections were asked for than files may be open at once.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the limit on open files is {}, which leaves room for {room} connections", self.limit_name())]
pub struct TooFewFiles {
    /// How many were asked for.
    pub asked: u32,
    /// The limit, as far as it could be raised; `None`: unknown.
    pub limit: Option<u64>,
    /// How many would fit.
    pub room: u32,
}

impl TooFewFiles {
    fn limit_name(&self) -> String {
        self.limit.map_or("unknown".to_owned(), |limit| limit.to_string())
    }
}

impl Plan {
    /// Raises the limit on open files as far as this process may, and looks whether the connections that the user asked for
    /// can be open at once under it.
    ///
    /// # Errors
    /// When they cannot.
    pub fn check_open_files(&self) -> Result<(), TooFewFiles> {
        let limit = host::raise_open_files().map(|limits| limits.soft);
        let room = self.connections_for_files(limit);
        match self.workload.limits.connections {
            Some(asked) if asked > room => Err(TooFewFiles { asked, limit, room }),
            _ => Ok(()),
        }
    }

    /// One request before the load: [`preflight`], with the patience of the run, and of a usual one at most.
    ///
    /// # Errors
    /// As there.
    pub fn ask_once(&mut self) -> Result<Preflight, PreflightError> {
        let usual = Limits::default().timeout.unwrap_or(Nanos::MAX);
        let patience = self.workload.limits.timeout.map_or(usual, |timeout| timeout.min(usual));
        preflight(&mut self.target, patience)
    }
}
