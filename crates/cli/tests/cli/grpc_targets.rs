//! `truetail run --targets` with calls of gRPC.

use super::grpc::Server;
use super::support::{TestDir, assert_balanced, assert_complete};

const PROTO: &str = "syntax = \"proto3\";\npackage shop;\nmessage Item { string name = 1; int32 count = 2; }\n\
    service Cart { rpc Add(Item) returns (Item); rpc Fill(stream Item) returns (Item); \
    rpc Watch(Item) returns (stream Item); }\nservice Stock { rpc Find(Item) returns (Item); }\n";

#[test]
fn methods_of_several_services_are_called_by_their_weights() {
    let server = Server::start(Some(1));
    let dir = TestDir::new();
    let place = &server.place;
    dir.file("shop.proto", PROTO);
    dir.file("item.json", "{\"name\": \"in a file\"}");
    let targets = format!(
        "# Most calls add something.\n# weight: 3\nGRPC grpc://{place}/shop.Cart/Add\nx-own: 1\n{{\"name\":\"a\"}}\n\n\
         GRPC grpc://{place}/shop.Stock/Find\n@item.json\n\nGRPC grpc://{place}/shop.Cart/Fill\n{{\"name\":\"b\"}}\n{{\"count\":7}}\n"
    );
    let load =
        ["run", "--targets", dir.file("targets", &targets), "-r", "1000", "-n", "500", "--quiet", "--out", "run"];
    let more = ["--proto", "shop.proto", "-H", "x-all: 1", "--check", "message.name != \"\"", "--no-preflight"];
    let output = dir.truetail(&[&load[..], &more].concat());
    let run = assert_complete(&dir.path().join("run"));
    assert_balanced(&run);
    assert_eq!(run["grpc"]["statuses"], serde_json::json!({"OK": 450, "UNAVAILABLE": 50}), "{}", output.stderr);
    assert_eq!(run["checks"][0]["passed"], 450);
    assert_eq!(run["scenario"]["grpc"]["kind"], "client_streaming");
    let calls = server.calls();
    let bodies =
        [&b"\0\0\0\0\x03\x0a\x01a"[..], b"\0\0\0\0\x0b\x0a\x09in a file", b"\0\0\0\0\x03\x0a\x01b\0\0\0\0\x02\x10\x07"];
    let counted = bodies.map(|body| calls.iter().filter(|(_, sent)| sent == body).count() as u64);
    assert_eq!((calls.len(), counted.iter().sum::<u64>()), (500, 500));
    let books = run["by_target"].as_array().expect("a list");
    for ((book, method), counted) in
        books.iter().zip(["shop.Cart/Add", "shop.Stock/Find", "shop.Cart/Fill"]).zip(counted)
    {
        assert_eq!(book["url"], format!("grpc://{place}/{method}"));
        assert_eq!(book["tally"]["responses"], counted, "{method}");
        let statuses = ["200", "1014"].map(|status| book["statuses"][status].as_u64().unwrap_or(0));
        assert_eq!(statuses.iter().sum::<u64>(), counted, "{method}");
        assert!(output.stdout.contains(&format!("{method} ")), "{}", output.stdout);
    }
    // Three in five have the first method; the draw follows from the seed.
    assert!((250..350).contains(&counted[0]), "{counted:?}");
}

#[test]
fn what_cannot_be_called_has_its_line() {
    let dir = TestDir::new();
    dir.file("shop.proto", PROTO);
    let add = "GRPC grpc://127.0.0.1:1/shop.Cart/Add\n";
    for (rest, more, wanted) in [
        ("GET http://127.0.0.1:1/\n", &[][..], "targets:2: a request of HTTP beside calls of gRPC; "),
        ("GET grpc://127.0.0.1:1/shop.Cart/Add", &[], "targets:2: a grpc:// URL is called with GRPC; "),
        ("GRPC http://127.0.0.1:1/shop.Cart/Add", &[], "targets:2: GRPC calls a method; "),
        ("GRPC grpc://127.0.0.1:1/shop.Cart", &[], "targets:2: 'grpc://127.0.0.1:1/shop.Cart': no method is named"),
        ("GRPC grpc://me:secret@127.0.0.1:1/shop.Cart/Add", &[], "truetail does not log in to gRPC"),
        (
            "\n\nGRPC grpc://127.0.0.1:1/shop.Cart/Buy",
            &[],
            "targets:4: shop.Cart has no method Buy; the methods are Add",
        ),
        (
            "GRPC grpc://127.0.0.1:1/shop.Till/Add",
            &[],
            "targets:2: there is no service shop.Till; the services are shop.Cart",
        ),
        (
            "GRPC grpc://127.0.0.1:1/shop.Cart/Add\n{\"nam\":1}",
            &[],
            "targets:2: no field 'nam' in Item; it has: name, count",
        ),
        (
            "GRPC grpc://127.0.0.1:1/shop.Cart/Fill\n{}\n{\"nam\":1}",
            &[],
            "targets:2: message 2: no field 'nam' in Item",
        ),
        ("{}\n{}", &[], "targets:1: the message is not JSON"),
        (
            "GRPC grpc://127.0.0.1:1/shop.Cart/Watch",
            &[],
            "targets:2: shop.Cart/Watch answers with a stream, and shop.Cart/Add answers with one message; ",
        ),
        ("{}", &["--message-gap", "5ms"], "--message-gap: shop.Cart/Add takes one message"),
        ("{}", &["--data", "{}"], "--data and --targets contradict each other"),
        ("{}", &["--method", "PUT"], "--method and --targets contradict each other"),
        ("{}", &["--user", "a:b"], "--user is for HTTP"),
    ] {
        dir.file("targets", &format!("{add}{rest}"));
        let load =
            ["run", "--targets", "targets", "-r", "9", "-n", "1", "--quiet", "--no-save", "--proto", "shop.proto"];
        let output = dir.truetail(&[&load[..], more].concat());
        assert_eq!(output.code, Some(2), "{rest}: {}", output.stderr);
        assert!(output.stderr.contains(wanted) && !output.stderr.contains("secret"), "{rest}: {}", output.stderr);
        assert_eq!(output.stderr.trim_end().lines().count(), 1, "{}", output.stderr);
    }
    dir.file("targets", "GET http://127.0.0.1:1/\n");
    let output = dir.truetail(&["run", "--targets", "targets", "-r", "9", "--proto", "shop.proto"]);
    assert!(output.stderr.contains("--proto is for gRPC"), "{}", output.stderr);
}
