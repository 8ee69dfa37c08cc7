//! OpenAPI 3 as targets: an interface description, turned into requests that can be sent.
//!
//! No values are invented: each is from the description (an example, a default, an enumeration) or from a row of data.
//!
//! | file | what is in it |
//! |---|---|
//! | `document` | the description, and its references |
//! | `operation` | an operation as a request |
//! | `schema` | a schema with all its parts |
//! | `style` | notation of parameter values |
//! | `value` | values of parameters and bodies |
//! | `yaml` | YAML, with numbers as they are written |
//! | `names` | names of placeholders |
//! | `left_out` | reasons why operations are left out |

mod document;
mod left_out;
mod names;
mod operation;
mod schema;
mod style;
mod value;
mod yaml;

use truetail_requests::BaseUrl;

use crate::ImportError;
use crate::ways::{counted, listed, shown};
use crate::whole::file::place_of;

use document::Document;
use left_out::LeftOut;
use names::Names;
use operation::{Operation, operations};

/// Options for making targets of a description.
#[derive(Clone, Default, Debug)]
pub struct OpenApiOptions {
    /// The base of all URLs, such as `http://127.0.0.1:8080/v1`. The default is the first server of the description.
    pub base: Option<String>,
    /// Keeps only GET and HEAD, which change nothing (RFC 9110, section 9.2.1).
    pub safe: bool,
}

/// Targets that were made from a description.
#[derive(Clone, Debug)]
pub struct OpenApiTargets {
    /// The file of targets.
    pub targets: String,
    /// Notes about the targets.
    pub notes: Vec<String>,
}

/// Makes targets from a description in JSON or YAML, from a file called `name`.
///
/// # Errors
/// [`ImportError`], if it is not OpenAPI 3, or none of its operations can be sent.
pub fn targets_of_openapi(bytes: &[u8], name: &str, options: &OpenApiOptions) -> Result<OpenApiTargets, ImportError> {
    let wrong = |problem: String| ImportError::content(place_of(bytes, 0), problem);
    let document = Document::parse(bytes).map_err(wrong)?;
    let base = document.base(options.base.as_deref()).map_err(wrong)?;
    let mut names = Names::default();
    let mut left_out = LeftOut::default();
    let operations = operations(&document, &base, options.safe, &mut names, &mut left_out);
    if operations.is_empty() {
        let why = left_out.text().map_or_else(|| "it has none".to_owned(), |text| format!("left out: {text}"));
        return Err(wrong(format!("no operation of it can be sent; {why}")));
    }
    let notes = notes(name, &base, &operations, &names, &left_out);
    let head: String = notes.iter().map(|note| format!("# {note}\n")).collect();
    let targets: String = operations.iter().map(Operation::write).collect();
    Ok(OpenApiTargets { targets: head + &targets, notes })
}

fn notes(name: &str, base: &BaseUrl, operations: &[Operation], names: &Names, left_out: &LeftOut) -> Vec<String> {
    let left_out = left_out.text().map_or_else(String::new, |text| format!("; left out: {text}"));
    let whole = format!("{} of {name} at {base}{left_out}", counted(operations.len() as u64, "operation"));
    let columns = names.all();
    let rows = (!columns.is_empty()).then(|| {
        let listed = listed(columns.iter().cloned());
        format!("the description has no value for {listed}: give rows with these columns by --data-from")
    });
    let unfilled: Vec<String> = operations.iter().filter(|one| one.is_unfilled()).map(Operation::title).collect();
    let unfilled = (!unfilled.is_empty()).then(|| {
        format!("not all could be filled in of {}: a comment at each says what", listed(unfilled.into_iter()))
    });
    let changing: Vec<String> =
        operations.iter().filter(|operation| !operation.is_safe()).map(Operation::title).collect();
    let changes = (!changing.is_empty())
        .then(|| format!("these may change data: {}; --safe leaves them out", listed(changing.into_iter())));
    let weights = Some("each has the weight 1: write how often your users send which".to_owned());
    [Some(whole), rows, unfilled, changes, weights].into_iter().flatten().map(|note| shown(&note)).collect()
}
