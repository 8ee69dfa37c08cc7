//! `truetail grpc`: shows the schema of a server.

use truetail_grpc::{GrpcUrl, Sketch};
use truetail_report::text::visible;

use crate::args::grpc_verb::{GrpcPlaceArgs, GrpcVerb, GrpcVerbArgs};
use crate::args::run_options::parse_run;
use crate::error::{ExitCode, Result, usage_error};
use crate::output;
use crate::resolve::grpc_schema;

pub(super) fn grpc(args: GrpcVerbArgs) -> Result<ExitCode> {
    let sketches = match &args.verb {
        GrpcVerb::List(place) => schema(place, None)?.all_services(),
        GrpcVerb::Describe(described) => match &described.name {
            None => schema(&described.place, None)?.all_services(),
            Some(name) => vec![schema(&described.place, Some(name))?.sketch(name).map_err(usage_error)?],
        },
    };
    // The names are those of a server.
    let lines: Vec<String> = sketches.iter().flat_map(lines).map(|line| visible(&line)).collect();
    output::print(&format!("{}\n", lines.join("\n"))).map(|()| ExitCode::Success)
}

/// Returns the schema of a server, as far as `name` needs it.
fn schema(place: &GrpcPlaceArgs, name: Option<&str>) -> Result<truetail_grpc::Schema> {
    let (http_origin, path) = GrpcUrl::split(&place.place).map_err(usage_error)?;
    if !path.is_empty() {
        let help = "leave the path out, and give the name after the server";
        return Err(usage_error(format!("'{}': {help}: truetail grpc describe HOST:PORT NAME", place.place)));
    }
    let words = std::iter::once("grpc://unused:1/S/M".into()).chain(place.words()).collect();
    let args = parse_run(words)?;
    grpc_schema::schema(&args, &http_origin, name)
}

fn lines(sketch: &Sketch) -> Vec<String> {
    let indented = |lines: &[String]| lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>();
    match sketch {
        Sketch::Service(name, methods) => [vec![name.clone()], indented(methods)].concat(),
        Sketch::Method(line, sample) => vec![line.clone(), format!("  --data '{sample}'")],
        Sketch::Message(name, fields, sample) => {
            [vec![name.clone()], indented(fields), vec![format!("  {sample}")]].concat()
        }
    }
}
