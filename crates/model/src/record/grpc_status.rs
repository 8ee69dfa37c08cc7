//! Statuses of gRPC calls, and the numbers that stand for them beside those of HTTP.

use std::borrow::Cow;

/// Added to the number of a status that is an error, to record it beside statuses of HTTP.
const ERRORS_FROM: u16 = 1000;
/// The status of HTTP that a call has if it ended well.
const HTTP_OK: u16 = 200;

/// Highest number that is recorded as a status.
pub const MAX_STATUS: u16 = ERRORS_FROM + NAMES.len() as u16 - 1;

const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// Status of a gRPC call, 0 to 16.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GrpcStatus(u8);

impl GrpcStatus {
    /// The call succeeded.
    pub const OK: GrpcStatus = GrpcStatus(0);
    /// The status of a code that gRPC does not define.
    pub const UNKNOWN: GrpcStatus = GrpcStatus(2);
    /// The service cannot be reached, or refuses for now.
    pub const UNAVAILABLE: GrpcStatus = GrpcStatus(14);
    const CANCELLED: GrpcStatus = GrpcStatus(1);
    const PERMISSION_DENIED: GrpcStatus = GrpcStatus(7);
    const RESOURCE_EXHAUSTED: GrpcStatus = GrpcStatus(8);
    const UNIMPLEMENTED: GrpcStatus = GrpcStatus(12);
    const INTERNAL: GrpcStatus = GrpcStatus(13);
    const UNAUTHENTICATED: GrpcStatus = GrpcStatus(16);

    /// Returns every status.
    pub fn all() -> impl Iterator<Item = GrpcStatus> {
        (0..NAMES.len() as u8).map(GrpcStatus)
    }

    /// Returns the status of a code. One that gRPC does not define counts as UNKNOWN, as the specification demands.
    pub fn from_code(code: u64) -> GrpcStatus {
        u8::try_from(code).ok().filter(|code| usize::from(*code) < NAMES.len()).map_or(GrpcStatus::UNKNOWN, GrpcStatus)
    }

    /// Returns the code.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Returns the status of a name, such as `UNAVAILABLE`.
    pub fn from_name(name: &str) -> Option<GrpcStatus> {
        GrpcStatus::all().find(|status| status.name() == name)
    }

    /// Returns the status of a call that was answered in plain HTTP, such as by a proxy.
    /// Source: doc/http-grpc-status-mapping.md of gRPC.
    pub const fn of_http(status: u16) -> GrpcStatus {
        match status {
            400 => GrpcStatus::INTERNAL,
            401 => GrpcStatus::UNAUTHENTICATED,
            403 => GrpcStatus::PERMISSION_DENIED,
            404 => GrpcStatus::UNIMPLEMENTED,
            429 | 502 | 503 | 504 => GrpcStatus::UNAVAILABLE,
            _ => GrpcStatus::UNKNOWN,
        }
    }

    /// Returns the status of a call that the server ended by RST_STREAM with this code.
    /// Source: doc/PROTOCOL-HTTP2.md of gRPC, "Errors".
    pub const fn of_reset(code: u32) -> GrpcStatus {
        match code {
            7 => GrpcStatus::UNAVAILABLE,
            8 => GrpcStatus::CANCELLED,
            11 => GrpcStatus::RESOURCE_EXHAUSTED,
            12 => GrpcStatus::PERMISSION_DENIED,
            0..=10 => GrpcStatus::INTERNAL,
            _ => GrpcStatus::UNKNOWN,
        }
    }

    /// Returns the number in records: 200 for OK, whose status in HTTP is 200, and 1000 more than the code for errors.
    pub const fn recorded(self) -> u16 {
        match self.0 {
            0 => HTTP_OK,
            code => ERRORS_FROM + code as u16,
        }
    }

    /// Returns the status that a number in the records of calls stands for.
    pub fn of_recorded(status: u16) -> Option<GrpcStatus> {
        GrpcStatus::all().find(|known| known.recorded() == status)
    }

    /// Returns the name, in upper case.
    pub const fn name(self) -> &'static str {
        NAMES[self.0 as usize]
    }
}

/// Returns the number of a status of HTTP, or the name of the status of a gRPC call that failed.
pub fn status_name(status: u16) -> Cow<'static, str> {
    match GrpcStatus::of_recorded(status).filter(|status| *status != GrpcStatus::OK) {
        Some(status) => status.name().into(),
        None => status.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_status_is_an_error_exactly_if_the_call_failed() {
        for status in GrpcStatus::all() {
            let recorded = status.recorded();
            assert_eq!(recorded >= 400, status != GrpcStatus::OK, "{status:?}");
            assert_eq!(GrpcStatus::of_recorded(recorded), Some(status));
            assert_eq!(GrpcStatus::from_name(status.name()), Some(status));
            assert!(recorded <= MAX_STATUS);
        }
        assert_eq!(["200", "404", "UNAVAILABLE"], [200, 404, 1014].map(status_name).map(Cow::into_owned)[..]);
        assert_eq!([GrpcStatus::of_recorded(1000), GrpcStatus::of_recorded(1017)], [None; 2]);
    }

    #[test]
    fn codes_of_others_map_as_the_specification_says() {
        let names = |all: &[u32]| all.iter().map(|code| GrpcStatus::of_reset(*code).name()).collect::<Vec<_>>();
        assert_eq!(names(&[0, 1, 2, 3, 4, 6, 9, 10]), ["INTERNAL"; 8]);
        let others = ["UNAVAILABLE", "CANCELLED", "RESOURCE_EXHAUSTED", "PERMISSION_DENIED"];
        assert_eq!(names(&[7, 8, 11, 12]), others);
        let of_http = |all: &[u16]| all.iter().map(|code| GrpcStatus::of_http(*code).name()).collect::<Vec<_>>();
        let wanted = ["INTERNAL", "UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED", "UNKNOWN", "UNKNOWN"];
        assert_eq!(of_http(&[400, 401, 403, 404, 500, 302]), wanted);
        assert_eq!(of_http(&[429, 502, 503, 504]), ["UNAVAILABLE"; 4]);
        assert_eq!(
            [16, 17, 300].map(GrpcStatus::from_code).map(GrpcStatus::name),
            ["UNAUTHENTICATED", "UNKNOWN", "UNKNOWN"]
        );
    }
}
