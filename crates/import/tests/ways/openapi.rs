//! Interface descriptions as targets, which truetail's parser reads.

use proptest::prelude::*;
use serde_json::{Value, json};
use truetail_import::ways::{OpenApiOptions, OpenApiTargets, targets_of_openapi};
use truetail_requests::{TargetSpec, parse_targets};

const SHOP: &str = r##"
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers:
  - url: https://shop.example/v1/
security:
  - bearer: []
paths:
  /items:
    get:
      security: []
      parameters:
        - {name: limit, in: query, schema: {type: integer, default: 20}}
        - {name: after, in: query, schema: {type: string}}
        - {name: sort, in: query, required: true, schema: {type: string, enum: ["price up", name]}}
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: "#/components/schemas/NewItem"}
  /items/{id}:
    parameters:
      - {$ref: "#/components/parameters/Id"}
    get:
      parameters:
        - {name: X-Trace, in: header, required: true, schema: {type: string}}
        - {name: Accept-Language, in: header, example: "de's"}
    delete: {deprecated: true}
    put:
      requestBody: {content: {application/json: {example: {name: "it's", n: 1}}}}
  /users/{id}/avatar:
    get: {parameters: [{name: id, in: path, required: true, schema: {type: integer}}]}
    put: {requestBody: {required: true, content: {image/png: {}}}}
  /elsewhere:
    get: {parameters: [{$ref: "other.yaml#/x"}]}
components:
  securitySchemes:
    bearer: {type: http, scheme: bearer}
  parameters:
    Id: {name: id, in: path, required: true, schema: {type: integer}}
  schemas:
    NewItem:
      type: object
      required: [name, price, tags, kind, owner]
      properties:
        name: {type: string}
        price: {type: number}
        tags: {type: array, minItems: 1, items: {type: string, example: new}}
        kind: {const: book}
        note: {type: string}
        stock: {type: integer, default: 0}
        id: {type: integer, readOnly: true}
        owner: {allOf: [{$ref: "#/components/schemas/Named"}]}
    Named: {type: object, required: [name], properties: {name: {type: string}}}
"##;

fn made(text: &str, options: &OpenApiOptions) -> Result<OpenApiTargets, String> {
    targets_of_openapi(text.as_bytes(), "shop.yaml", options).map_err(|error| error.to_string())
}

fn specs(made: &OpenApiTargets) -> Vec<TargetSpec> {
    parse_targets(&made.targets, "targets.txt", &|_| Err("no file".to_owned()))
        .unwrap_or_else(|error| panic!("{error:?}\n{}", made.targets))
}

#[test]
fn operations_become_targets_with_the_values_of_the_description() {
    let made = made(SHOP, &OpenApiOptions::default()).unwrap();
    let lines: Vec<&str> = made.targets.lines().filter(|line| line.starts_with("curl")).collect();
    let base = "https://shop.example/v1";
    let bearer = "-H 'Authorization: Bearer {{token}}'";
    let json = "-H 'Content-Type: application/json' --data-raw";
    let body =
        r#"{"kind":"book","name":"{{name}}","owner":{"name":"{{name}}"},"price":{{price}},"stock":0,"tags":["new"]}"#;
    assert_eq!(
        lines,
        [
            &format!("curl -X GET '{base}/items?limit=20&sort=price%20up'"),
            &format!("curl -X POST '{base}/items' {bearer} {json} '{body}'"),
            &format!(
                r"curl -X GET '{base}/items/{{{{id}}}}' -H 'X-Trace: {{{{X-Trace}}}}' -H 'Accept-Language: de'\''s' {bearer}"
            ),
            &format!(r#"curl -X PUT '{base}/items/{{{{id}}}}' {bearer} {json} '{{"n":1,"name":"it'\''s"}}'"#),
            &format!("curl -X GET '{base}/users/{{{{users_id}}}}/avatar' {bearer}"),
        ]
    );
    assert_eq!(specs(&made).len(), 5);
    let notes = made.notes.join("\n");
    for says in [
        "5 operations of shop.yaml at https://shop.example/v1; left out: 1 deprecated, 1 with references to other files or to \
         nothing, 1 with a body that is not JSON",
        "no value for X-Trace, id, name, price, token, …",
        "POST /items, PUT /items/{id}; --safe leaves them out",
    ] {
        assert!(notes.contains(says), "{says} is not in\n{notes}");
    }
    assert!(made.targets.starts_with("# 5 operations"), "{}", made.targets);
}

#[test]
fn fields_may_be_called_what_old_yaml_took_for_booleans() {
    let text = "openapi: 3.0.3\nservers: [{url: 'http://a'}]\npaths:\n  /x:\n    put:\n      requestBody:\n        content:\n          \
                application/json: {schema: {type: object, required: [n, on, yes], properties: {n: {type: integer}, on: \
                {type: string}, yes: {enum: [no]}}}}\n";
    let made = made(text, &OpenApiOptions::default()).unwrap();
    let body = String::from_utf8(specs(&made)[0].body.clone()).unwrap();
    assert_eq!(body, r#"{"n":{{n}},"on":"{{on}}","yes":"no"}"#);
}

#[test]
fn only_what_changes_nothing_and_to_another_place() {
    let options = OpenApiOptions { base: Some("http://127.0.0.1:8080/".to_owned()), safe: true };
    let made = made(SHOP, &options).unwrap();
    let specs = specs(&made);
    assert!(specs.len() == 3 && made.targets.matches("'http://127.0.0.1:8080/").count() == 3, "{}", made.targets);
    assert!(made.notes[0].contains("4 that may change data"), "{}", made.notes[0]);
    assert!(!made.notes.iter().any(|note| note.contains("--safe")), "{:?}", made.notes);
}

#[test]
fn what_is_no_description_is_refused_in_a_line() {
    let other = |change: fn(&mut Value)| {
        let mut document = json!({"openapi": "3.0.3", "servers": [{"url": "http://a"}], "paths": {"/": {"get": {}}}});
        change(&mut document);
        document.to_string()
    };
    for (text, says) in [
        ("{".to_owned(), "this is no JSON"),
        ("a: [".to_owned(), "this is no YAML"),
        ("a: 1".to_owned(), "this is no OpenAPI"),
        (other(|document| document["openapi"] = "4.0".into()), "OpenAPI 4.0"),
        ("swagger: '2.0'".to_owned(), "Swagger 2"),
        (other(|document| document["servers"] = json!([{"url": "/v1"}])), "its server is '/v1'; say where requests go"),
        (other(|document| document["servers"] = json!([])), "it names no server"),
        (other(|document| document["paths"] = json!({})), "no operation of it can be sent; it has none"),
        (other(|document| document["paths"] = json!({"/{x}": {"get": {}}})), "1 with a value that cannot be sent"),
    ] {
        let error = made(&text, &OpenApiOptions::default()).unwrap_err();
        assert!(error.contains(says) && !error.contains('\n'), "{error} has no {says}");
    }
}

/// Any JSON value, with words of OpenAPI.
fn any_value() -> impl Strategy<Value = Value> {
    const WORDS: [&str; 24] = [
        "get",
        "post",
        "parameters",
        "name",
        "in",
        "path",
        "query",
        "header",
        "required",
        "schema",
        "type",
        "object",
        "string",
        "array",
        "items",
        "properties",
        "allOf",
        "oneOf",
        "example",
        "enum",
        "$ref",
        "#/paths",
        "content",
        "application/json",
    ];
    let word = || prop::sample::select(&WORDS[..]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        word().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,5}".prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..5)
                .prop_map(|all| all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(path in "/[a-z{}' ]{0,8}", item in any_value(), body in any_value(), schemas in any_value()) {
        let mut paths = json!({ path: item });
        paths["/fixed/{name}"] = json!({"post": {"requestBody": {"content": {"application/json": {"schema": body}}},
            "parameters": [{"name": "name", "in": "path", "schema": schemas}]}});
        let document = json!({"openapi": "3.0.0", "servers": [{"url": "http://a"}], "paths": paths, "components": {"schemas": schemas}});
        if let Ok(made) = made(&document.to_string(), &OpenApiOptions::default()) {
            prop_assert_eq!(specs(&made).len(), made.targets.matches("# weight: 1").count());
        }
    }
}

fn of_path(path: &str, method: &str, operation: &str, schemas: &str) -> OpenApiTargets {
    let text = format!(
        "openapi: 3.0.3\nservers: [{{url: 'http://a'}}]\npaths: {{'{path}': {{{method}: {operation}}}}}\ncomponents: {{schemas: {schemas}}}\n"
    );
    made(&text, &OpenApiOptions::default()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn body_of(schema: &str) -> (String, OpenApiTargets) {
    let operation = format!("{{requestBody: {{content: {{application/json: {{schema: {schema}}}}}}}}}");
    let schemas = "{Geo: {type: object, properties: {tag: {type: string}, radius: {type: number}}}, Id: {type: integer}, \
        State: {type: string, enum: [open, closed]}, Pet: {type: object, required: [name], properties: {name: {type: string}}}, \
        Dog: {allOf: [{$ref: '#/components/schemas/Pet'}, {required: [breed], properties: {breed: {type: string}}}]}, \
        Node: {required: [id, next], properties: {id: {example: 1}, next: {$ref: '#/components/schemas/Node'}}}, \
        Tree: {required: [id], properties: {id: {example: 1}, children: {items: {$ref: '#/components/schemas/Tree'}}}}, \
        Self: {$ref: '#/components/schemas/Self'}}";
    let made = of_path("/x", "post", &operation, schemas);
    (String::from_utf8(specs(&made)[0].body.clone()).unwrap(), made)
}

#[test]
fn all_parts_of_a_schema_are_one() {
    let to = |name: &str| format!("{{$ref: '#/components/schemas/{name}'}}");
    for (schema, body) in [
        (
            format!("{{required: [tag, site], allOf: [{}, {{properties: {{site: {{type: string}}}}}}]}}", to("Geo")),
            r#"{"site":"{{site}}","tag":"{{tag}}"}"#,
        ),
        (format!("{{allOf: [{}, {{required: [tag]}}]}}", to("Geo")), r#"{"tag":"{{tag}}"}"#),
        (
            format!("{{allOf: [{}, {{required: [weeks], properties: {{weeks: {{type: integer}}}}}}]}}", to("Dog")),
            r#"{"breed":"{{breed}}","name":"{{name}}","weeks":{{weeks}}}"#,
        ),
        (
            "{allOf: [{required: [k], properties: {k: {type: string}}}, {properties: {k: {enum: [x, y]}}}]}".to_owned(),
            r#"{"k":"x"}"#,
        ),
        (
            "{required: [base], properties: {base: {type: string}}, oneOf: [{required: [left], properties: {left: {type: string}}}]}"
                .to_owned(),
            r#"{"base":"{{base}}","left":"{{left}}"}"#,
        ),
        (
            format!(
                "{{required: [id, list, state, who], properties: {{id: {{allOf: [{}]}}, list: {{allOf: [{{type: array, minItems: 1, \
                 items: {{type: string}}}}]}}, state: {{allOf: [{}]}}, who: {{anyOf: [{{type: 'null'}}, {{type: string}}]}}}}}}",
                to("Id"),
                to("State")
            ),
            r#"{"id":{{id}},"list":["{{list}}"],"state":"open","who":"{{who}}"}"#,
        ),
        // An example of a part lacks members that the whole requires.
        (
            "{allOf: [{properties: {a: {example: 1}}, example: {a: 1}}, {required: [b], properties: {b: {type: integer}}}]}".to_owned(),
            r#"{"a":1,"b":{{b}}}"#,
        ),
        (to("Tree"), r#"{"id":1}"#),
    ] {
        let (made, _) = body_of(&schema);
        assert_eq!(made, body, "{schema}");
    }
}

#[test]
fn what_cannot_be_filled_in_is_marked() {
    for (schema, body, mark) in [
        (
            "{$ref: '#/components/schemas/Node'}",
            r#"{"id":1,"next":{{next}}}"#,
            "# not filled in: {{next}}, because it contains itself",
        ),
        ("{$ref: '#/components/schemas/Self'}", "{{body}}", "# not filled in: {{body}}, because it refers to itself"),
        ("{$ref: 'other.yaml#/x'}", "{{body}}", "because it refers to another file, or to nothing"),
        ("{$ref: '#/components/schemas/Geo'}", "{}", "# the body is empty"),
    ] {
        let (made_body, made) = body_of(schema);
        assert_eq!(made_body, body, "{schema}");
        assert!(made.targets.contains(mark), "{}", made.targets);
        assert!(made.notes.iter().any(|note| note.contains("could be filled in of POST /x")), "{:?}", made.notes);
    }
}

#[test]
fn parts_of_parts_are_bounded() {
    let many = |name: usize| {
        let next = format!("{{$ref: '#/components/schemas/S{}'}}", name + 1);
        let members = (0..40).map(|n| format!("m{n}: {next}")).collect::<Vec<_>>().join(", ");
        let required = (0..40).map(|n| format!("m{n}")).collect::<Vec<_>>().join(", ");
        format!("S{name}: {{required: [{required}], properties: {{{members}}}, allOf: [{next}, {next}]}}")
    };
    let schemas = (0..9).map(many).collect::<Vec<_>>().join(", ");
    let operation = "{requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}}";
    let made = of_path("/x", "post", operation, &format!("{{{schemas}}}"));
    assert!(made.targets.len() < 64 << 20 && made.targets.contains("# not filled in"), "{} bytes", made.targets.len());
}

#[test]
fn parameters_have_their_style() {
    let written = |parameter: &str| {
        let made = of_path("/form", "get", &format!("{{parameters: [{{name: p, in: query, {parameter}}}]}}"), "{}");
        let url = specs(&made)[0].url.clone();
        url.strip_prefix("http://a/form").unwrap().to_owned()
    };
    for (parameter, query) in [
        ("example: [a, b]", "?p=a&p=b"),
        ("explode: false, example: [a, 'b,c']", "?p=a,b%2Cc"),
        ("style: pipeDelimited, explode: false, example: [a, b]", "?p=a%7Cb"),
        ("style: spaceDelimited, explode: false, example: [a, b]", "?p=a%20b"),
        ("style: deepObject, explode: true, example: {a: 1, b: x}", "?p%5Ba%5D=1&p%5Bb%5D=x"),
        ("example: {x: 1, y: 2}", "?x=1&y=2"),
        ("explode: false, example: {x: 1, y: 2}", "?p=x,1,y,2"),
        ("example: 'a b&c'", "?p=a%20b%26c"),
        ("allowReserved: true, example: /a/b?c", "?p=/a/b?c"),
        ("content: {application/json: {example: {a: 1}}}", "?p=%7B%22a%22%3A1%7D"),
        ("required: true, schema: {type: array, items: {enum: [a, b]}}", "?p=a"),
    ] {
        assert_eq!(written(parameter), query, "{parameter}");
    }
}

#[test]
fn numbers_that_are_text_stay_as_they_are_written() {
    let operation = "{parameters: [{name: zip, in: query, example: 01067, schema: {type: string}}, \
        {name: v, in: query, schema: {type: string, enum: [1.10]}}, {name: e, in: query, example: 1e5, schema: {type: string}}, \
        {name: x, in: query, example: 0x1F, schema: {type: string}}, {name: n, in: query, example: 9007199254740993}], \
        requestBody: {content: {application/json: {schema: {properties: {zip: {type: string}, n: {type: integer}}}, \
        example: {zip: 01067, n: 7, v: 1.10, list: [*a, 0x10]}}}}}";
    let text =
        format!("openapi: 3.0.3\nx: &a 2\nservers: [{{url: 'http://a'}}]\npaths: {{/x: {{post: {operation}}}}}\n");
    let made = made(&text, &OpenApiOptions::default()).unwrap();
    let spec = specs(&made).remove(0);
    assert_eq!(spec.url, "http://a/x?zip=01067&v=1.10&e=1e5&x=0x1F&n=9007199254740993");
    assert_eq!(String::from_utf8(spec.body).unwrap(), r#"{"list":[2,16],"n":7,"v":1.10,"zip":"01067"}"#);
}

/// After a host, such paths would change it: in `http://good@evil.test`, `good` is a user.
#[test]
fn no_path_changes_the_host_that_requests_go_to() {
    let evil = [
        "@evil.test/a",
        ".evil.test/a",
        ":81/a",
        "evil/a",
        "\\\\evil.test/a",
        "{host}/a",
        "{at}",
        "/\t/evil.test/a",
        "",
    ];
    let paths = evil.iter().chain(&["/ok", "//evil.test/a", "/@evil.test", "/../../@evil.test/a"]);
    let parameters = serde_json::json!([{"name": "at", "in": "path", "example": "@evil.test"}]);
    let operation = serde_json::json!({"get": {"parameters": parameters}});
    let paths: serde_json::Map<_, _> = paths.map(|path| (path.to_string(), operation.clone())).collect();
    for base in ["http://good.test", "http://good.test:8080/v1/", "http://good.test\\v1"] {
        let document = serde_json::json!({"openapi": "3.0.0", "paths": paths, "servers": [{"url": base}]});
        let made = made(&document.to_string(), &OpenApiOptions::default()).unwrap();
        let specs = specs(&made);
        assert_eq!(specs.len(), 4, "{}", made.targets);
        for spec in specs {
            let rest = spec.url.strip_prefix("http://good.test").unwrap_or_else(|| panic!("{}", spec.url));
            assert!(rest.starts_with('/') || rest.starts_with(":8080/v1/"), "{}", spec.url);
        }
        assert!(
            made.notes[0].contains("7 with a path that does not begin with a slash, 2 with a value"),
            "{:?}",
            made.notes
        );
    }
    let document =
        serde_json::json!({"openapi": "3.0.0", "paths": paths, "servers": [{"url": "http://good.test/?to="}]});
    let error = made(&document.to_string(), &OpenApiOptions::default()).unwrap_err();
    assert!(error.contains("neither a query nor a fragment"), "{error}");
}
