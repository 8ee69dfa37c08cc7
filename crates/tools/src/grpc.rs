//! The gRPC method that tools call in the laboratory, whose server answers each call with the messages of the call.

use truetail_run::split_origin;

/// Path of the method.
pub const METHOD_PATH: &str = "/truetail.Echo/Call";
/// Name of the file with [`PROTO`].
pub(crate) const FILE: &str = "echo.proto";
/// The schema, because the server has no reflection.
pub(crate) const PROTO: &str = "syntax = \"proto3\";\npackage truetail;\n\nmessage Text {\n  string text = 1;\n}\n\n\
                                service Echo {\n  rpc Call(Text) returns (Text);\n}\n";

/// Returns `host:port` and `package.Service/Method` of a URL.
pub(crate) fn address_and_method(url: &str) -> (&str, &str) {
    let (origin, path) = split_origin(url);
    (origin.split_once("://").map_or(origin, |(_, address)| address), path.trim_start_matches('/'))
}
