use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use prost::Message;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{DescriptorProto, FileDescriptorProto, FileDescriptorSet};
use prost_reflect::{DescriptorPool, MessageDescriptor, ServiceDescriptor};
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use crate::method::CallMethod;

/// Reads a `.proto` file by its name in `import` statements. `Ok(None)`: the file is missing.
pub type SourceReader = Arc<dyn Fn(&str) -> Result<Option<String>, String>>;

/// Services and messages.
#[derive(Clone, Debug)]
pub struct Schema {
    pool: DescriptorPool,
}

/// Reason why a schema cannot be used, or lacks a service or method.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SchemaError {
    /// A `.proto` file is wrong, or is missing.
    #[error("{0}")]
    Source(String),
    /// A descriptor set or an answer of reflection is no valid schema.
    #[error("the schema is not valid: {0}")]
    Invalid(String),
    /// The schema has no such service.
    #[error("there is no service {name}; {}", there_are("service", "services", there))]
    NoService {
        /// Name of the service.
        name: String,
        /// Names of the services.
        there: Vec<String>,
    },
    /// The service has no such method.
    #[error("{service} has no method {name}; {}", there_are("method", "methods", there))]
    NoMethod {
        /// Name of the service.
        service: String,
        /// Name of the method.
        name: String,
        /// Names of its methods.
        there: Vec<String>,
    },
}

/// Returns `it has: a, b`, or that there is nothing.
pub(crate) fn there_are(one: &str, more: &str, names: &[String]) -> String {
    const MOST: usize = 20;
    match names {
        [] => format!("there are no {more}"),
        [name] => format!("the only {one} is {name}"),
        names if names.len() <= MOST => format!("the {more} are {}", names.join(", ")),
        names => format!("the first of {} {more} are {}", names.len(), names[..MOST].join(", ")),
    }
}

impl Schema {
    /// Compiles `.proto` files, given by their names for `read`, which also reads what they import.
    ///
    /// # Errors
    /// [`SchemaError::Source`].
    pub fn compile(names: &[String], read: SourceReader) -> Result<Schema, SchemaError> {
        let mut resolver = ChainFileResolver::new();
        resolver.add(Sources(read));
        resolver.add(GoogleFileResolver::new());
        let mut compiler = protox::Compiler::with_file_resolver(resolver);
        compiler.include_imports(true);
        for name in names {
            compiler.open_file(name).map_err(|error| SchemaError::Source(one_line(&error)))?;
        }
        Schema::of_files(compiler.file_descriptor_set().file)
    }

    /// Reads a descriptor set, as `protoc --descriptor_set_out --include_imports` writes it.
    ///
    /// # Errors
    /// [`SchemaError::Invalid`].
    pub fn of_descriptor_set(bytes: &[u8]) -> Result<Schema, SchemaError> {
        let set = FileDescriptorSet::decode(bytes).map_err(|error| SchemaError::Invalid(error.to_string()))?;
        Schema::of_files(set.file)
    }

    /// Returns the schema of these files and of the files of Google that they import.
    pub(crate) fn of_files(files: Vec<FileDescriptorProto>) -> Result<Schema, SchemaError> {
        files.iter().try_for_each(check_file)?;
        let names: Vec<String> = files.iter().map(|file| file.name().to_owned()).collect();
        let missing = files.iter().flat_map(|file| &file.dependency).filter(|name| !names.contains(name));
        let known: BTreeMap<&String, FileDescriptorProto> =
            missing.filter_map(|name| Some((name, well_known(name)?))).collect();
        let known: Vec<_> = known.into_values().collect();
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(known.into_iter().chain(files))
            .map_err(|error| SchemaError::Invalid(one_line(&error)))?;
        Ok(Schema { pool })
    }

    /// Returns a method of a service, by the full name of the service.
    ///
    /// # Errors
    /// [`SchemaError::NoService`] and [`SchemaError::NoMethod`].
    pub fn method(&self, service: &str, name: &str) -> Result<CallMethod, SchemaError> {
        let Some(found) = self.pool.get_service_by_name(service) else {
            return Err(SchemaError::NoService { name: service.to_owned(), there: self.services() });
        };
        match found.methods().find(|method| method.name() == name) {
            Some(method) => Ok(CallMethod::new(method)),
            None => Err(SchemaError::NoMethod {
                service: service.to_owned(),
                name: name.to_owned(),
                there: found.methods().map(|method| method.name().to_owned()).collect(),
            }),
        }
    }

    /// Returns the schema as a descriptor set.
    pub fn to_descriptor_set(&self) -> Vec<u8> {
        self.pool.encode_to_vec()
    }

    pub(crate) fn service(&self, name: &str) -> Option<ServiceDescriptor> {
        self.pool.get_service_by_name(name)
    }

    pub(crate) fn message(&self, name: &str) -> Option<MessageDescriptor> {
        self.pool.get_message_by_name(name)
    }

    /// Returns the full names of the services, sorted.
    pub fn services(&self) -> Vec<String> {
        let mut names: Vec<String> = self.pool.services().map(|service| service.full_name().to_owned()).collect();
        names.sort();
        names
    }
}

/// Refuses a file of which a part would make prost-reflect panic.
fn check_file(file: &FileDescriptorProto) -> Result<(), SchemaError> {
    let problem = match file.syntax.as_deref() {
        None | Some("proto2" | "proto3") => return file.message_type.iter().try_for_each(check_message),
        Some("editions") => "it is written in an edition of protobuf",
        Some(_) => "its syntax is unknown",
    };
    let name = file.name().escape_debug();
    Err(SchemaError::Invalid(format!("'{name}': {problem}; truetail reads proto2 and proto3")))
}

/// Refuses an entry of a map without a key of a type that keys may have, or without a value.
fn check_message(message: &DescriptorProto) -> Result<(), SchemaError> {
    let field = |number| {
        let field = message.field.iter().find(|field| field.number() == number);
        field.filter(|field| field.label() != Label::Repeated)
    };
    let is_of_key =
        |kind| !matches!(kind, Type::Float | Type::Double | Type::Bytes | Type::Enum | Type::Message | Type::Group);
    let has_both = || field(1).is_some_and(|key| is_of_key(key.r#type())) && field(2).is_some();
    if message.options.as_ref().is_some_and(|options| options.map_entry()) && !has_both() {
        let name = message.name().escape_debug();
        return Err(SchemaError::Invalid(format!("'{name}' is no entry of a map: it lacks a key or a value")));
    }
    message.nested_type.iter().try_for_each(check_message)
}

/// Returns a file of Google that schemas import without shipping it, such as `google/protobuf/empty.proto`.
pub(crate) fn well_known(name: &str) -> Option<FileDescriptorProto> {
    let file = GoogleFileResolver::new().open_file(name).ok()?;
    Some(file.file_descriptor_proto().clone())
}

fn one_line(error: &dyn fmt::Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Sources(SourceReader);

impl FileResolver for Sources {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let text = (self.0)(name).map_err(protox::Error::new)?;
        let text = text.ok_or_else(|| protox::Error::file_not_found(name))?;
        File::from_source(name, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(sources: &'static [(&str, &str)]) -> Result<Schema, SchemaError> {
        let read =
            |name: &str| Ok(sources.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()));
        Schema::compile(&[sources[0].0.to_owned()], Arc::new(read))
    }

    const SHOP: &[(&str, &str)] = &[
        (
            "shop.proto",
            "syntax = \"proto3\"; package shop; import \"google/protobuf/timestamp.proto\"; import \"parts/item.proto\";
             enum Color { RED = 0; BLUE = 1; }
             message Order { int64 id = 1; repeated shop.Item items = 2; map<string, shop.Item> by_name = 3;
               google.protobuf.Timestamp due_at = 4; oneof way { string street = 5; bytes box = 6; } Color color = 7; }
             service Cart { rpc Add(Order) returns (Order); rpc Watch(Order) returns (stream Order);
               rpc Fill(stream Order) returns (Order); }",
        ),
        ("parts/item.proto", "syntax = \"proto3\"; package shop; message Item { string name = 1; uint32 n = 2; }"),
    ];

    #[test]
    fn a_schema_of_another_syntax_is_refused_in_one_line() {
        for (syntax, problem) in
            [("editions", "an edition of protobuf"), ("proto9\n", "its syntax is unknown"), ("", "unknown")]
        {
            let file = FileDescriptorProto {
                name: Some("a\n.proto".to_owned()),
                syntax: Some(syntax.to_owned()),
                ..FileDescriptorProto::default()
            };
            let set = FileDescriptorSet { file: vec![file] }.encode_to_vec();
            let error = Schema::of_descriptor_set(&set).unwrap_err().to_string();
            assert!(error.contains(problem) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn an_entry_of_a_map_has_a_key_and_a_value() {
        let schema = |change: fn(&mut DescriptorProto)| {
            let set = compiled(SHOP).unwrap().to_descriptor_set();
            let mut set = FileDescriptorSet::decode(&set[..]).unwrap();
            let order =
                set.file.iter_mut().flat_map(|file| &mut file.message_type).find(|message| message.name() == "Order");
            change(&mut order.unwrap().nested_type[0]);
            Schema::of_descriptor_set(&set.encode_to_vec())
        };
        assert!(schema(|_| ()).is_ok());
        let changes: [fn(&mut DescriptorProto); 4] = [
            |entry| entry.field.truncate(1),
            |entry| drop(entry.field.remove(0)),
            |entry| entry.field[0].set_type(Type::Double),
            |entry| entry.field[1].set_label(Label::Repeated),
        ];
        for change in changes {
            let error = schema(change).unwrap_err().to_string();
            assert!(error.contains("is no entry of a map"), "{error}");
        }
    }

    #[test]
    fn messages_have_their_form_in_json() {
        let schema = compiled(SHOP).unwrap();
        let add = schema.method("shop.Cart", "Add").unwrap();
        let text = br#"{"id":"7","items":[{"name":"a"}],"by_name":{"k":{"n":2}},"dueAt":"1970-01-01T00:00:01Z","street":"s","color":"BLUE"}"#;
        let body = add.body_of_json(text).unwrap();
        let wanted = b"\x08\x07\x12\x03\x0a\x01a\x1a\x07\x0a\x01k\x12\x02\x10\x02\x22\x02\x08\x01\x2a\x01s\x38\x01";
        assert_eq!(body, [&b"\0\0\0\0\x19"[..], wanted].concat());
        let answer: serde_json::Value = serde_json::from_str(&add.answer_as_json(&body[5..]).unwrap()).unwrap();
        assert_eq!((answer["id"].as_str(), answer["by_name"]["k"]["n"].as_u64()), (Some("7"), Some(2)));
        assert_eq!((answer["due_at"].as_str(), answer["color"].as_str()), (Some("1970-01-01T00:00:01Z"), Some("BLUE")));
        assert_eq!(add.body_of_json(b" ").unwrap(), [0; 5], "nothing is an empty message");
        assert!(add.answer_as_json(b"\xff").is_err());
    }

    #[test]
    fn kinds_of_methods() {
        use truetail_run::GrpcKind;
        let kind = |name| compiled(SHOP).unwrap().method("shop.Cart", name).unwrap().kind();
        assert_eq!(
            ["Add", "Watch", "Fill"].map(kind),
            [GrpcKind::Unary, GrpcKind::ServerStreaming, GrpcKind::ClientStreaming]
        );
    }

    #[test]
    fn a_stream_of_messages_is_a_list_or_one_after_another() {
        let fill = compiled(SHOP).unwrap().method("shop.Cart", "Fill").unwrap();
        let of = |text: &str| fill.body_of_json(text.as_bytes());
        let both = b"\0\0\0\0\x02\x08\x07\0\0\0\0\x02\x2a\0".to_vec();
        for text in
            [r#"[{"id":"7"},{"street":""}]"#, r#"{"id":7} {"street":""}"#, "[{\"id\":7}]\n[{\"street\":\"\"}]\n"]
        {
            assert_eq!(of(text), Ok(both.clone()), "{text}");
        }
        assert_eq!([of("[]").unwrap().len(), of("").unwrap().len(), of("{}").unwrap().len()], [0, 5, 5]);
        let told = of(r#"[{"id":1},{"idd":2}]"#).unwrap_err();
        assert!(told.starts_with("message 2: no field 'idd' in Order"), "{told}");
        assert!(of("[{]").unwrap_err().starts_with("the message is not JSON: "));
    }

    #[test]
    fn unknown_names_are_told_wherever_they_are() {
        let add = compiled(SHOP).unwrap().method("shop.Cart", "Add").unwrap();
        for (text, wanted) in [
            ("{\"idd\":1}", "no field 'idd' in Order; it has: id, "),
            ("{\"items\":[{},{\"nme\":1}]}", "no field 'nme' in Item; it has: name, n"),
            ("{\"by_name\":{\"nme\":{\"nme\":1}}}", "no field 'nme' in Item"),
            ("{\"items\":{}}", "the JSON is no Order"),
            ("{\"color\":\"GREEN\"}", "the JSON is no Order"),
            ("{\"street\":\"a\",\"box\":\"\"}", "the JSON is no Order"),
            ("7", "Order is an object"),
        ] {
            let error = add.body_of_json(text.as_bytes()).unwrap_err();
            assert!(error.starts_with(wanted) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn sources_that_are_no_schema_are_one_line() {
        let missing = compiled(&[("a.proto", "syntax = \"proto3\"; import \"b.proto\";")]).unwrap_err().to_string();
        assert!(missing.contains("b.proto") && !missing.contains('\n'), "{missing}");
        let broken = compiled(&[("a.proto", "message { }")]).unwrap_err().to_string();
        assert!(!broken.contains('\n'), "{broken}");
        let unknown = compiled(&[("a.proto", "syntax = \"proto3\"; message A { B b = 1; }")]).unwrap_err().to_string();
        assert!(unknown.contains('B'), "{unknown}");
        assert!(Schema::of_descriptor_set(b"\xff").is_err());
        assert_eq!(Schema::of_descriptor_set(b"").unwrap().services(), Vec::<String>::new());
    }

    #[test]
    fn a_descriptor_set_is_the_schema_that_was_compiled() {
        let schema = compiled(SHOP).unwrap();
        let again = Schema::of_descriptor_set(&schema.to_descriptor_set()).unwrap();
        assert_eq!(again.services(), ["shop.Cart"]);
        let body = |schema: &Schema| schema.method("shop.Cart", "Add").unwrap().body_of_json(b"{\"id\":1}");
        assert_eq!(body(&again), body(&schema));
    }
}
