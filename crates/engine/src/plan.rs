//! The plan of a run: load, target and options, and what follows from them on this machine.

use truetail_model::arrival::RateProfile;
use truetail_model::cancellation::Cancellation;
use truetail_model::driver::{Stripe, WorkerShare};
use truetail_model::record::SamplesOptions;
use truetail_model::time::Nanos;
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_reactor::stamps;
use truetail_run::{EndClock, Http2Config, MachineLimit, MessageConfig, OfferedLoad, StripeFacts, Timing};

use crate::host;
use crate::preflight::{Preflight, PreflightError, observed_preflight, try_connection};
use crate::protocol::observer::ObserverFactory;
use crate::target::endpoint::Endpoint;
use crate::target::{HttpVersion, Target, WireProtocol};

/// Plan of one run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The load and its limits, for all machines together.
    pub workload: Workload,
    /// The part of the load that this machine offers.
    pub stripe: Stripe,
    /// The origin of the schedule, in nanoseconds since 1970 UTC; `None`: as soon as the run is ready.
    pub start_at_unix_ns: Option<u64>,
    /// The target of the load.
    pub target: Target,
    /// Worker threads; `None`: as many as the load needs, at most one per processor.
    pub threads: Option<u32>,
    /// Selection of the requests that are kept one by one.
    pub samples: SamplesOptions,
    /// Precision with which requests are sent and ends are taken.
    pub precision: Precision,
    /// Reuse connections if the server allows it. Otherwise each request opens its own connection and must contain
    /// `Connection: close`. HTTP/2 ignores this and always reuses connections.
    pub keep_alive: bool,
    /// Limit on the requests in flight at once on one HTTP/2 connection; `None`: as many as the server allows.
    pub max_streams: Option<u32>,
    /// Sees heads and bodies of the answers; `None`: bodies are counted and dropped.
    pub observer: Option<ObserverFactory>,
    /// Requests that are given up before their answers are complete; `None` if none are. Not for messages and sessions.
    pub cancel: Option<Cancellation>,
    /// Open files that this process needs for other things. The limit on connections leaves room for them.
    pub other_files: u64,
}

/// Precision with which requests are sent and ends are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Precision {
    /// The clock that takes the end of a response time. The kernel's exists only on Linux.
    pub end_clock: EndClock,
    /// Activity of workers between two requests.
    pub timing: Timing,
    /// Workers have real-time priority, so that other programs on this machine do not delay them. Linux only.
    pub realtime: bool,
}

/// Requests per second for each worker, if the engine chooses the number of threads. It is about half of what a core of
/// a small machine can do, so that a worker can catch up.
const RATE_PER_WORKER: f64 = 25_000.0;

/// The highest rate that a run may plan for each worker, in requests per second: over 100 times what it can send.
const MAX_RATE_PER_WORKER: f64 = 1e8;

/// Open files that are kept free for everything but workers and their connections.
const RESERVED_FILES: u64 = 18;
/// Open files of each worker's reactor. All workers share the process's limit on open files.
const FILES_PER_WORKER: u64 = 3;

/// Local ports that Linux assigns by default for one destination: 32768 to 60999.
const DEFAULT_LOCAL_PORTS: u32 = 28_232;

/// The limit on connections, and its reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EffectiveCap {
    /// Limit on the connections at once.
    pub connections: u32,
    /// The reason for this limit.
    pub reason: CapReason,
}

/// Reason for the limit on connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapReason {
    /// The user's own limit.
    UserLimit,
    /// The limit on open files.
    OpenFiles,
    /// The number of local ports for one destination.
    LocalPorts,
    /// The highest number of users of the closed model.
    Users,
    /// One shared connection for each worker, because an HTTP/2 connection carries many requests.
    Multiplexed,
}

impl EffectiveCap {
    /// Returns the most connections that this machine allows, if this machine sets the limit.
    pub fn machine_connections(&self) -> Option<u64> {
        self.machine_limit().map(|_| u64::from(self.connections))
    }

    /// Returns the limit of this machine that limits connections, if one does.
    pub fn machine_limit(&self) -> Option<MachineLimit> {
        match self.reason {
            CapReason::OpenFiles => Some(MachineLimit::OpenFiles),
            CapReason::LocalPorts => Some(MachineLimit::LocalPorts),
            CapReason::UserLimit | CapReason::Users | CapReason::Multiplexed => None,
        }
    }
}

impl Plan {
    /// Returns a plan with the default options.
    pub fn new(workload: Workload, target: Target) -> Plan {
        Plan {
            workload,
            stripe: Stripe::WHOLE,
            start_at_unix_ns: None,
            target,
            threads: None,
            samples: SamplesOptions::default(),
            precision: Precision { end_clock: EndClock::Kernel, timing: Timing::Auto, realtime: false },
            keep_alive: true,
            max_streams: None,
            observer: None,
            cancel: None,
            other_files: 0,
        }
    }

    /// Adds an observer of the answers, which sees each answer before the existing observers.
    pub fn observe(&mut self, observer: ObserverFactory) {
        self.observer = Some(match self.observer.take() {
            Some(other) => observer.and(other),
            None => observer,
        });
    }

    /// Returns true if sessions of the partly open model follow the observer's script, request by request.
    pub fn is_scripted(&self) -> bool {
        self.observer.as_ref().is_some_and(ObserverFactory::follows_script)
    }

    /// Returns true if the request of each arrival is made during the run, by the observer or from a template.
    /// Messages are made by their protocol.
    pub fn makes_requests(&self) -> bool {
        let has_maker = self.target.requests().maker().is_some();
        let is_http = !matches!(self.target.protocol(), WireProtocol::Messages(_));
        self.observer.as_ref().is_some_and(ObserverFactory::makes_requests) || has_maker && is_http
    }

    /// Returns the part of the load and of its limits that this machine offers.
    pub fn workload_here(&self) -> Workload {
        self.workload.for_stripe(self.stripe)
    }

    /// Returns the limit on connections on this machine: the user's limit, or else what this machine allows.
    pub fn effective_cap(&self) -> EffectiveCap {
        let workload = self.workload_here();
        if let Some(connections) = workload.limits.connections {
            return EffectiveCap { connections, reason: CapReason::UserLimit };
        }
        if self.target.protocol().shares_connections() && !workload.has_connection_per_session() {
            let connections = self.threads_for_the_load().min(workload.max_workers());
            return EffectiveCap { connections, reason: CapReason::Multiplexed };
        }
        if let Some(users) = workload.model.users() {
            return EffectiveCap { connections: users.most(), reason: CapReason::Users };
        }
        let files = self.connections_for_files(host::open_file_limits().map(|limit| limit.soft));
        let files = (files / self.connections_per_session()).max(1);
        let ports = match self.target.endpoint() {
            Endpoint::Tcp(_) => host::local_ports().unwrap_or(DEFAULT_LOCAL_PORTS),
            Endpoint::Unix(_) => u32::MAX,
        };
        if files < ports {
            EffectiveCap { connections: files, reason: CapReason::OpenFiles }
        } else {
            EffectiveCap { connections: ports, reason: CapReason::LocalPorts }
        }
    }

    /// Returns the most connections of a session: one to each origin if sessions have their own, otherwise one.
    pub(crate) fn connections_per_session(&self) -> u32 {
        let has_its_own = self.workload.has_connection_per_session();
        if has_its_own { u32::try_from(self.target.origins().len()).unwrap_or(u32::MAX) } else { 1 }
    }

    /// Returns true if channels of messages are opened before the load. A session opens its own channel when it begins.
    pub(crate) fn opens_channels_ahead(&self) -> bool {
        let has_channels = matches!(self.target.protocol(), WireProtocol::Messages(_));
        has_channels && !self.is_scripted() && !self.workload.has_connection_per_session()
    }

    /// Returns the most connections that a worker with this share keeps open, if sessions do not have their own
    /// connections. In HTTP/1.1 this is the number of requests that may be in flight, to all origins together. Users
    /// without a limit may have one connection to each origin, as far as the open files suffice. In HTTP/2 this is the
    /// number of connections to each origin.
    pub(crate) fn most_connections(&self, cap: EffectiveCap, share: WorkerShare) -> u64 {
        let mine = share.share_of(u64::from(cap.connections));
        match cap.reason {
            CapReason::Users if !self.target.protocol().shares_connections() => {
                let files = self.connections_for_files(host::open_file_limits().map(|limit| limit.soft));
                let of_each = mine.saturating_mul(self.target.origins().len() as u64);
                of_each.min(share.share_of(u64::from(files))).max(mine)
            }
            _ => mine,
        }
    }

    /// Returns the clock that will take the end of a response time. Linux does not stamp data from Unix sockets, and
    /// other systems stamp nothing.
    pub fn effective_end_clock(&self) -> EndClock {
        match self.target.endpoint() {
            Endpoint::Tcp(_) if stamps::ARE_AVAILABLE => self.precision.end_clock,
            Endpoint::Tcp(_) | Endpoint::Unix(_) => EndClock::User,
        }
    }

    /// Returns the offered load and its target. A limit on connections that truetail chose is not included, because it
    /// differs between machines.
    pub fn offered(&self) -> OfferedLoad {
        OfferedLoad {
            url: Some(self.target.url()),
            method: self.target.method().map(|method| method.as_str().to_owned()),
            mix: self.target.requests().mix(),
            values_seed: self.target.requests().values_seed(),
            http2: (self.target.protocol().http_version() == Some(HttpVersion::Http2))
                .then_some(Http2Config { max_streams: self.max_streams }),
            messages: match self.target.protocol() {
                WireProtocol::Http(_) | WireProtocol::Calls(_) => None,
                WireProtocol::Messages(messages) => Some(MessageConfig {
                    framing: messages.framing.to_string(),
                    matching: messages.matching.to_string(),
                    offers_deflate: messages.offer_deflate(),
                    http2: messages.are_over_http2() && !messages.are_calls(),
                }),
            },
            grpc: self.target.protocol().calls(),
            cancel: self.cancel,
            ..OfferedLoad::from_workload(&self.workload)
        }
    }

    /// Returns the part of the load that this machine offers, if it is not all of it.
    pub fn stripe_facts(&self) -> Option<StripeFacts> {
        (self.stripe != Stripe::WHOLE).then(|| StripeFacts::new(self.stripe, &self.workload))
    }

    /// Returns the number of workers: at most one for each connection or user, so that each worker has work.
    pub fn effective_threads(&self) -> u32 {
        let users = self.workload_here().model.users().map_or(u32::MAX, Users::most);
        self.threads_for_the_load().min(self.effective_cap().connections).min(users).max(1)
    }

    /// Returns the number of connections that a limit on open files leaves room for.
    fn connections_for_files(&self, soft_limit: Option<u64>) -> u32 {
        let others = RESERVED_FILES + FILES_PER_WORKER * u64::from(self.threads_for_the_load());
        let free = soft_limit.unwrap_or(u64::MAX).saturating_sub(host::open_file_count() + self.other_files + others);
        u32::try_from(free).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the number of workers that the load needs.
    fn threads_for_the_load(&self) -> u32 {
        self.threads.unwrap_or_else(|| {
            let needed = self.peak_rate().map_or(f64::INFINITY, |peak| peak / RATE_PER_WORKER);
            needed.ceil().clamp(1.0, f64::from(host::cpus())) as u32
        })
    }

    /// Returns the highest rate for this machine, in requests per second; `None` if the answers decide the rate.
    fn peak_rate(&self) -> Option<f64> {
        let of_all = match &self.workload.model {
            LoadModel::Open(schedule) => schedule.profile.peak_per_second(),
            LoadModel::PartlyOpen { sessions, requests_per_session, .. } => {
                sessions.profile.peak_per_second() * f64::from(*requests_per_session)
            }
            LoadModel::Closed { .. } => return None,
        };
        Some(of_all / f64::from(self.stripe.count()))
    }

    /// Checks that a machine could send the rate.
    ///
    /// # Errors
    /// If the rate is above 100 million requests/s for each worker.
    pub fn check_rate(&self) -> Result<(), RateTooHigh> {
        let peak = self.peak_rate().unwrap_or_default();
        let workers = self.effective_threads();
        let is_too_high = peak > MAX_RATE_PER_WORKER * f64::from(workers);
        if is_too_high { Err(RateTooHigh { peak, workers }) } else { Ok(()) }
    }

    /// Raises the limit on open files as far as possible, and checks that the user's limit on connections fits.
    ///
    /// # Errors
    /// If the user's limit does not fit.
    pub fn check_open_files(&self) -> Result<(), TooFewFiles> {
        let limit = host::raise_open_file_limit().map(|limits| limits.soft);
        let room = self.connections_for_files(limit);
        match self.workload_here().limits.connections {
            Some(asked) if asked > room / self.connections_per_session() => {
                Err(TooFewFiles { asked: asked.saturating_mul(self.connections_per_session()), limit, room })
            }
            _ => Ok(()),
        }
    }

    /// Sends one request before the load; see [`preflight`](crate::preflight()). The timeout is that of the run, but at
    /// most the default. Only `observer` sees the answer: the plan's own observer sees only the answers of the run.
    ///
    /// # Errors
    /// See [`PreflightError`].
    pub fn preflight(&mut self, observer: Option<&ObserverFactory>) -> Result<Preflight, PreflightError> {
        let timeout = self.preflight_timeout();
        observed_preflight(&mut self.target, timeout, observer.map(ObserverFactory::observer))
    }

    /// Opens a connection before the load, including TLS, and sends no request. Used if answers may never end.
    ///
    /// # Errors
    /// See [`PreflightError`].
    pub fn try_connection(&mut self) -> Result<(), PreflightError> {
        let timeout = self.preflight_timeout();
        try_connection(&mut self.target, timeout)
    }

    fn preflight_timeout(&self) -> Nanos {
        let default = Limits::default().timeout.unwrap_or(Nanos::MAX);
        self.workload.limits.timeout.map_or(default, |timeout| timeout.min(default))
    }
}

/// Error: no machine could send the rate.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[error(
    "{peak:.0} requests/s can be sent by no machine: truetail plans at most {:.0} million/s for each worker, and there {}",
    MAX_RATE_PER_WORKER / 1e6,
    if *workers == 1 { "is 1".to_owned() } else { format!("are {workers}") }
)]
pub struct RateTooHigh {
    /// The highest rate of the plan on this machine, in requests per second.
    pub peak: f64,
    /// The number of workers.
    pub workers: u32,
}

/// Error: the user's limit on connections does not fit under the limit on open files.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the limit on open files is {}, which allows {room} connections", self.limit_name())]
pub struct TooFewFiles {
    /// The connections that the user's limits allow: the limit on connections, or the limit on sessions times their
    /// origins if each session has its own connections.
    pub asked: u32,
    /// The limit on open files, raised as far as possible; `None`: unknown.
    pub limit: Option<u64>,
    /// The number of connections that would fit.
    pub room: u32,
}

impl TooFewFiles {
    fn limit_name(&self) -> String {
        self.limit.map_or("unknown".to_owned(), |limit| limit.to_string())
    }
}
