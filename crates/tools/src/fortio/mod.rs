//! fortio, by the Fortio Authors: threads that each wait for an answer and then catch up with their share of the rate,
//! over HTTP or with the Ping of its gRPC service.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{LOG, NAME, RESULT, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, Protocols, ToolInfo, grpc};

pub use parse::{FortioCall, FortioResult};
pub(crate) use parse::{log_line, result_file};

/// Threads, as many as the workers of ghz. The default of four cannot make a thousand requests of 10 ms a second.
const THREADS: u32 = 50;

/// fortio with a rate.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Closed,
        clock: "from the start of the request by a thread, which may be later than the rate planned; percentiles are \
                interpolated in buckets of a millisecond and more; failures count with the time until they failed; over \
                HTTP it silently retries after a reset or a timeout, over gRPC it has no timeout",
        install: InstallHint::anywhere("Go module proxy", "tools/install.sh fortio"),
        tested_version: TESTED,
    },
    |search_path| locate_program(search_path, NAME, &["version"]),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
)
.with_users(|_| THREADS)
.speaking(Protocols::HttpAndGrpc);

/// Returns the command line for a number of requests (`-n`). With a duration (`-t`) fortio would begin with a request
/// of each thread that is in none of its figures. Without `-uniform` all threads would send at the same moments.
fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let rate = load.rate.as_per_second();
    let limits = format!("-uniform -qps {rate} -c {THREADS} -n {}", load.due());
    let invocation = Invocation::new(found, "load -quiet").words(&limits);
    let invocation = match load.is_grpc() {
        true => invocation.words("-grpc -ping"),
        false => invocation.words_if(load.timeout_millis().map(|millis| format!("-timeout {millis}ms"))),
    };
    let target = if load.is_grpc() { grpc::address_and_method(&load.url).0 } else { &load.url };
    Invocation {
        outputs: vec![(RESULT, RESULT.to_owned()), (LOG, LOG.to_owned())],
        ..invocation.words(&format!("-json {RESULT} -access-log-file {LOG}")).arg(target)
    }
}
