//! Help if a server does not answer before a load.

use truetail_engine::{PreflightError, Target, TlsFault};
use truetail_model::record::Cause;

use crate::error::{CliError, runtime_error};

/// Returns the error of a request before the load, with help.
pub(crate) fn preflight_error(target: &Target, error: &PreflightError) -> CliError {
    let help = match error.innermost() {
        error if target.protocol().speaks_grpc() && speaks_no_http2(error) => "is this the port of a gRPC server?",
        PreflightError::NoTls(_) => "install ca-certificates, use --ca FILE, or accept any certificate with --insecure",
        PreflightError::Tls { fault, .. } => tls_help(fault),
        PreflightError::InHttp2Only { .. } => "add --http2",
        // Not every server says in TLS what it misses.
        PreflightError::NoAnswer { cause: Cause::ClosedBeforeAnswer | Cause::ResetByPeer, .. } if target.uses_tls() => {
            "if the server asks for a certificate, send one with --cert FILE --key FILE; --no-preflight sends the load all \
             the same"
        }
        PreflightError::NoAnswer { cause: Cause::NoHttp2, .. } => "leave out --http2 to use HTTP/1.1",
        PreflightError::NoAnswer { cause, .. } if has_answered(*cause) => "--no-preflight sends the load all the same",
        PreflightError::NotOpened { cause: Cause::LoginRefused, .. } => {
            "check user name, password and database in the URL"
        }
        PreflightError::NotOpened { cause: Cause::HelloRefused | Cause::HelloTimedOut, .. } => {
            "check the file of --hello, and what the server answers to it"
        }
        PreflightError::NotOpened { cause: Cause::NoExtendedConnect | Cause::NoHttp2, .. } => {
            "leave out --http2 to open WebSockets over HTTP/1.1"
        }
        PreflightError::NotOpened { cause: Cause::NoWebSocket, .. } => "check the path, and the headers that it needs",
        PreflightError::NotOpened { .. }
        | PreflightError::Connect { .. }
        | PreflightError::TimedOut { .. }
        | PreflightError::NoAnswer { .. }
        | PreflightError::At { .. } => "is the server running? --no-preflight sends the load all the same",
    };
    runtime_error(format!("{}: {error}; {help}", error.asked_for(target)))
}

/// Returns true if the server does not speak HTTP/2, which gRPC needs.
fn speaks_no_http2(error: &PreflightError) -> bool {
    matches!(
        error,
        PreflightError::NoAnswer { cause: Cause::NoHttp2, .. }
            | PreflightError::NotOpened { cause: Cause::NoHttp2, .. }
            | PreflightError::Tls { fault: TlsFault::NoHttp2, .. }
    )
}

/// Returns true if the server sent something that was no valid answer.
fn has_answered(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::BadChunk
            | Cause::BadGrpcMessage
            | Cause::BadHead
            | Cause::BadLength
            | Cause::EarlyAnswer
            | Cause::HeadTooLarge
            | Cause::Http2Protocol
            | Cause::Http2Window
            | Cause::LeftoverBytes
            | Cause::MessageTooLarge
            | Cause::NoGrpcStatus
            | Cause::StreamReset
            | Cause::TooManyInterim
            | Cause::Truncated
            | Cause::UnexpectedUpgrade
    )
}

fn tls_help(fault: &TlsFault) -> &'static str {
    match fault {
        TlsFault::UnknownIssuer | TlsFault::Certificate(_) => {
            "trust it with --ca FILE, or accept any certificate with --insecure"
        }
        TlsFault::OfAnAuthority => {
            "trust this very certificate with --ca FILE, or accept any certificate with --insecure"
        }
        TlsFault::Expired | TlsFault::NotYetValid => {
            "check the clock of this machine, or accept any certificate with --insecure"
        }
        TlsFault::WrongName { .. } => {
            "use that name in the URL (--resolve sets its address), or accept any certificate with --insecure"
        }
        TlsFault::NotTls => "does this port expect http://?",
        TlsFault::ClientCertificate(_) => "send one with --cert FILE --key FILE",
        TlsFault::NoHttp2 => "leave out --http2 to use HTTP/1.1",
        TlsFault::NoHttp1 => "does it speak HTTP/2? add --http2",
        TlsFault::Ended | TlsFault::Other(_) => "--no-preflight sends the load all the same",
    }
}
