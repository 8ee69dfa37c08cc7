//! Sends load over real sockets. The engine drives [`truetail_model::driver`] on one thread per core. Each thread has
//! its own reactor, connections and recorder, and threads share nothing on the path of a request.
//!
//! The engine knows HTTP, TLS and TCP. It knows nothing of load tools, reports or terminals.
//!
//! ```no_run
//! use truetail_engine::{Control, Method, Plan, Target};
//! # use truetail_model::{arrival::*, time::*, workload::*};
//! let target = Target::resolve(Method::Get, "http://127.0.0.1:8080/api", &[], Vec::new())?;
//! let schedule = Schedule {
//!     profile: Profile::constant("1000/s".parse()?),
//!     spacing: Spacing::Even,
//!     seed: 1,
//!     horizon: Horizon { duration: Some(Nanos::from_secs(10)), requests: None },
//! };
//! let workload = Workload { model: LoadModel::Open(schedule), limits: Limits::default(), warmup: Nanos::ZERO };
//! let measured = truetail_engine::run(&Plan::new(workload, target), &Control::new())?;
//! measured.snapshot.tally.check()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(unreachable_pub)]

pub mod callable;
mod checkpoint;
mod connection;
mod control;
pub mod host;
mod live;
mod opaque;
mod placement;
mod plan;
mod preflight;
mod protocol;
mod result;
mod run;
mod start;
mod target;
mod tls;
mod worker;
mod worker_instant;

#[doc(hidden)]
pub use protocol::messages::TestChannel;
#[doc(hidden)]
pub use protocol::{http1, http2};

pub use control::Control;

pub use live::Progress;
pub use plan::{CapReason, EffectiveCap, Plan, Precision, RateTooHigh, TooFewFiles};
pub use preflight::{PREFLIGHT_HEADER, Preflight, PreflightError, preflight, preflight_observed};
pub use protocol::fields::FieldList;
pub use protocol::messages::bytes_of_hex;
pub use protocol::messages::{
    CallRequest, Exchange, ExchangeStep, Expectation, Forms, Framing, JsonForms, Matching, MessageOptions, Opening,
    UnknownFraming, UnknownMatching, WebSocketRequest, redis_command,
};
pub use protocol::observer::{
    AnswerHead, AnswerLimits, AnswerReader, EndedRequest, NextRequest, ObserverFactory, RequestMaker, SessionScript,
    Trailers, both_readers,
};
pub use protocol::push_reader::PushReader;
pub use result::RunOutput;
pub use run::{EngineError, run};
pub use target::base_url::BaseUrl;
pub use target::channel_url::ChannelUrl;
pub use target::credentials::{credentials_in, without_credentials};
pub use target::endpoint::Endpoint;
pub use target::error::TargetError;
pub use target::fields::is_allowed_in_http2;
pub use target::framing::contradicts_framing;
pub use target::method::Method;
pub use target::origin::Origin;
pub use target::request::{Request, is_header_value};
pub use target::request_parts::{RequestParts, RequestView};
pub use target::request_set::{FeedOrder, MAX_REQUEST_SET_BYTES, MakeRequest, RequestId, RequestSet, RequestSetError};
pub use target::resolve::{AddressOverrides, Resolve};
pub use target::target_requests::TargetRequests;
pub use target::{HttpVersion, Target, WireProtocol};
pub use tls::{Identity, Tls, TlsError, TlsFault, TlsOptions};
