use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use prost::Message;
use prost_reflect::prost_types::FileDescriptorProto;

use crate::decoded::inflated;
use crate::method::framed;
use crate::schema::{Schema, SchemaError, there_are, well_known};

/// Limit on the files of a schema.
const MAX_FILES: usize = 10_000;
/// Limit on the rounds of questions: each asks for all files that are known to be missing.
const MAX_ROUNDS: usize = 64;
const PREFIX: usize = 5;

/// Version of the reflection service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReflectionVersion {
    /// `grpc.reflection.v1`.
    V1,
    /// `grpc.reflection.v1alpha`, which has the same messages.
    V1Alpha,
}

impl ReflectionVersion {
    /// Returns the path of its method.
    pub const fn path(self) -> &'static str {
        match self {
            ReflectionVersion::V1 => "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            ReflectionVersion::V1Alpha => "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        }
    }
}

/// Reason why a server's answers are no schema.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReflectionError {
    /// The answer breaks the protocol.
    #[error("the server's reflection is broken: {0}")]
    Broken(String),
    /// The server does not know the name.
    #[error("the server does not know {name}; {}", there_are("service", "services", there))]
    Unknown {
        /// Name of a service or message.
        name: String,
        /// Services of the server, without reflection itself.
        there: Vec<String>,
    },
    /// The files are no valid schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// The questions to a server about a name or all of its services, and what it has answered.
#[derive(Clone, Debug)]
pub struct Reflection {
    /// Names whose files are wanted and were not asked for.
    wanted: Vec<String>,
    /// The only wanted name, which must be there.
    name: Option<String>,
    services: Vec<String>,
    files: BTreeMap<String, FileDescriptorProto>,
    asked: BTreeSet<String>,
    rounds: usize,
    not_found: bool,
}

impl Reflection {
    /// Begins to ask for the schema of a service or message.
    pub fn of_name(name: &str) -> Reflection {
        Reflection { wanted: vec![name.to_owned()], name: Some(name.to_owned()), ..Reflection::of_all() }
    }

    /// Begins to ask for the schema of all services.
    pub fn of_all() -> Reflection {
        Reflection {
            wanted: Vec::new(),
            name: None,
            services: Vec::new(),
            files: BTreeMap::new(),
            asked: BTreeSet::new(),
            rounds: 0,
            not_found: false,
        }
    }

    /// Returns the body of the next call; `None`: everything is known.
    ///
    /// # Errors
    /// [`ReflectionError::Unknown`], and [`ReflectionError::Broken`] if a server names files without end.
    pub fn next_body(&mut self) -> Result<Option<Vec<u8>>, ReflectionError> {
        if self.not_found {
            return Err(ReflectionError::Unknown {
                name: self.name.clone().unwrap_or_default(),
                there: self.services.clone(),
            });
        }
        self.rounds += 1;
        if self.rounds > MAX_ROUNDS || self.files.len() > MAX_FILES {
            return Err(ReflectionError::Broken("it names more and more files".to_owned()));
        }
        let list = (self.rounds == 1).then(|| Question::ListServices(String::new()));
        let names = mem::take(&mut self.wanted).into_iter().map(Question::FileContainingSymbol);
        let missing = self.missing();
        let files = missing.iter().cloned().map(Question::FileByFilename);
        let body: Vec<u8> = list.into_iter().chain(names).chain(files).flat_map(Question::framed).collect();
        self.asked.extend(missing);
        Ok((!body.is_empty()).then_some(body))
    }

    /// Returns the imported files that were not sent and not yet asked for.
    fn missing(&self) -> Vec<String> {
        let imported: BTreeSet<&String> = self.files.values().flat_map(|file| &file.dependency).collect();
        let is_missing = |name: &&String| !self.files.contains_key(*name) && !self.asked.contains(*name);
        imported.into_iter().filter(is_missing).cloned().collect()
    }

    /// Takes the messages of an answer, with their prefixes.
    ///
    /// # Errors
    /// [`ReflectionError::Broken`].
    pub fn take(&mut self, body: &[u8]) -> Result<(), ReflectionError> {
        let broken = |problem: &str| ReflectionError::Broken(problem.to_owned());
        let mut rest = body;
        while let Some((prefix, after)) = rest.split_at_checked(PREFIX) {
            let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
            let (message, after) = after.split_at_checked(length).ok_or_else(|| broken("an answer is cut off"))?;
            // Some servers compress although nobody asked for it.
            let message =
                match prefix[0] {
                    0 => Cow::Borrowed(message),
                    _ => Cow::Owned(inflated(message).ok_or_else(|| {
                        broken("an answer is compressed and cannot be unpacked (gzip, at most 4 MiB)")
                    })?),
                };
            let answer = ServerReflectionResponse::decode(&*message).map_err(|error| broken(&error.to_string()))?;
            self.take_answer(answer.answer.ok_or_else(|| broken("an answer is empty"))?)?;
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err(broken("an answer is cut off")) }
    }

    fn take_answer(&mut self, answer: Answer) -> Result<(), ReflectionError> {
        match answer {
            Answer::Services(list) => {
                let names = list.service.into_iter().map(|service| service.name);
                self.services = names.filter(|name| !name.starts_with("grpc.reflection.")).collect();
                self.services.sort();
                if self.name.is_none() {
                    self.wanted = self.services.clone();
                }
            }
            Answer::Files(files) => {
                for bytes in files.file_descriptor_proto {
                    let file = FileDescriptorProto::decode(&bytes[..])
                        .map_err(|error| ReflectionError::Broken(format!("a file is no descriptor: {error}")))?;
                    self.files.insert(file.name().to_owned(), file);
                }
            }
            // Only the name must exist. A missing file may be one of Google, which needs no server.
            Answer::Error(_) => self.not_found |= self.files.is_empty() && self.name.is_some(),
        }
        Ok(())
    }

    /// Returns the schema.
    ///
    /// # Errors
    /// [`ReflectionError::Schema`].
    pub fn into_schema(self) -> Result<Schema, ReflectionError> {
        let files = self.files.into_values().map(|file| well_known(file.name()).unwrap_or(file));
        Ok(Schema::of_files(files.collect())?)
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct ServerReflectionRequest {
    #[prost(oneof = "Question", tags = "3, 4, 7")]
    question: Option<Question>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Question {
    #[prost(string, tag = "3")]
    FileByFilename(String),
    #[prost(string, tag = "4")]
    FileContainingSymbol(String),
    #[prost(string, tag = "7")]
    ListServices(String),
}

impl Question {
    fn framed(self) -> Vec<u8> {
        framed(&ServerReflectionRequest { question: Some(self) }.encode_to_vec())
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct ServerReflectionResponse {
    #[prost(oneof = "Answer", tags = "4, 6, 7")]
    answer: Option<Answer>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Answer {
    #[prost(message, tag = "4")]
    Files(FileDescriptorResponse),
    #[prost(message, tag = "6")]
    Services(ListServiceResponse),
    #[prost(message, tag = "7")]
    Error(ErrorResponse),
}

#[derive(Clone, PartialEq, prost::Message)]
struct FileDescriptorResponse {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file_descriptor_proto: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ListServiceResponse {
    #[prost(message, repeated, tag = "1")]
    service: Vec<ServiceResponse>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ServiceResponse {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ErrorResponse {
    #[prost(int32, tag = "1")]
    error_code: i32,
    #[prost(string, tag = "2")]
    error_message: String,
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const MAIN: &str = "syntax = \"proto3\"; package p; import \"part.proto\"; import \"google/protobuf/empty.proto\"; \
        service S { rpc M(Part) returns (google.protobuf.Empty); }";
    const PART: &str = "syntax = \"proto3\"; package p; message Part { string a = 1; }";

    /// Files as `protoc` makes them of these sources.
    fn files() -> Vec<FileDescriptorProto> {
        let [main, part] = [("main.proto", MAIN), ("part.proto", PART)]
            .map(|(name, text)| protox::file::File::from_source(name, text).unwrap());
        let mut main = main.file_descriptor_proto().clone();
        // The compiler resolves names.
        let method = &mut main.service[0].method[0];
        method.input_type = Some(".p.Part".to_owned());
        method.output_type = Some(".google.protobuf.Empty".to_owned());
        vec![main, part.file_descriptor_proto().clone()]
    }

    fn answer(answer: Answer) -> Vec<u8> {
        framed(&ServerReflectionResponse { answer: Some(answer) }.encode_to_vec())
    }

    fn files_answer(files: &[&FileDescriptorProto]) -> Vec<u8> {
        let file_descriptor_proto = files.iter().map(|file| file.encode_to_vec()).collect();
        answer(Answer::Files(FileDescriptorResponse { file_descriptor_proto }))
    }

    fn services(names: &[&str]) -> Vec<u8> {
        let service = names.iter().map(|name| ServiceResponse { name: (*name).to_owned() }).collect();
        answer(Answer::Services(ListServiceResponse { service }))
    }

    fn not_found() -> Vec<u8> {
        answer(Answer::Error(ErrorResponse { error_code: 5, error_message: "none".to_owned() }))
    }

    fn contains(bytes: &[u8], text: &str) -> bool {
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    #[test]
    fn files_that_a_server_leaves_out_are_asked_for() {
        let all = files();
        let mut reflection = Reflection::of_name("p.S");
        let first = reflection.next_body().unwrap().unwrap();
        assert!(contains(&first, "p.S"));
        reflection.take(&[services(&["p.S"]), files_answer(&[&all[0]])].concat()).unwrap();
        let second = reflection.next_body().unwrap().unwrap();
        assert!(contains(&second, "part.proto") && contains(&second, "google/protobuf/empty.proto"));
        // A server need not have files of Google.
        reflection.take(&[files_answer(&[&all[1]]), not_found()].concat()).unwrap();
        assert_eq!(reflection.next_body().unwrap(), None);
        let schema = reflection.into_schema().unwrap();
        let method = schema.method("p.S", "M").unwrap();
        assert_eq!(method.body_of_json(b"{\"a\":\"x\"}").unwrap(), b"\0\0\0\0\x03\x0a\x01x");
    }

    #[test]
    fn all_services_are_asked_for_one_by_one() {
        let all = files();
        let mut reflection = Reflection::of_all();
        reflection.next_body().unwrap().unwrap();
        reflection.take(&services(&["p.S", "p.Missing"])).unwrap();
        let second = reflection.next_body().unwrap().unwrap();
        assert!(contains(&second, "p.S") && contains(&second, "p.Missing"));
        reflection.take(&[not_found(), files_answer(&[&all[0], &all[1]])].concat()).unwrap();
        reflection.next_body().unwrap().unwrap();
        reflection.take(&not_found()).unwrap();
        assert_eq!(reflection.next_body().unwrap(), None);
        assert_eq!(reflection.into_schema().unwrap().services(), ["p.S"]);
    }

    #[test]
    fn a_service_that_is_not_there_is_told_with_those_that_are() {
        let mut reflection = Reflection::of_name("p.S");
        reflection.next_body().unwrap();
        reflection
            .take(&[services(&["p.T", "grpc.reflection.v1.ServerReflection", "p.A"]), not_found()].concat())
            .unwrap();
        let error = reflection.next_body().unwrap_err().to_string();
        assert_eq!(error, "the server does not know p.S; the services are p.A, p.T");
    }

    #[test]
    fn hostile_answers_are_refused_and_end() {
        let whole = files_answer(&[&files()[0]]);
        for end in 1..whole.len() {
            assert!(matches!(Reflection::of_name("p.S").take(&whole[..end]), Err(ReflectionError::Broken(_))), "{end}");
        }
        for body in [framed(b"\xff\xff"), framed(b""), [&[1], &whole[1..]].concat()] {
            assert!(matches!(Reflection::of_name("p.S").take(&body), Err(ReflectionError::Broken(_))));
        }
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&whole[PREFIX..]).unwrap();
        let compressed = [&[1], &framed(&gzip.finish().unwrap())[1..]].concat();
        assert_eq!(Reflection::of_name("p.S").take(&compressed), Ok(()));
        // Each file imports another one.
        let mut reflection = Reflection::of_name("p.S");
        let mut rounds = 0;
        while let Ok(Some(_)) = reflection.next_body() {
            let dependency = vec![format!("{}.proto", rounds + 1)];
            let file = FileDescriptorProto { name: Some(format!("{rounds}.proto")), dependency, ..Default::default() };
            reflection.take(&files_answer(&[&file])).unwrap();
            rounds += 1;
        }
        assert_eq!(rounds, MAX_ROUNDS);
        assert!(reflection.next_body().is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_taken_or_refused(bytes: Vec<u8>) {
            let mut reflection = Reflection::of_name("p.S");
            if reflection.take(&bytes).is_ok() {
                let _ = reflection.into_schema();
            }
        }
    }
}
