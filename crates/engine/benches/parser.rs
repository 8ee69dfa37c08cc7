//! Answers per second that the HTTP/1.1 parser reads: `cargo bench -p truetail-engine --bench parser`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use truetail_engine::http1::{HeadCache, Parsed, ResponseParser};

fn answer(fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 12:00:00 GMT\r\n{fields}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn answer_with_length(length: usize) -> Vec<u8> {
    answer(&format!("Content-Type: text/plain\r\nContent-Length: {length}"), &vec![b'x'; length])
}

/// Feeds `bytes` in two pieces, the first may be empty. The cache knows the previous head, as in a worker.
fn read(parser: &mut ResponseParser, cache: &mut HeadCache, bytes: &[u8], split: usize) -> Parsed {
    parser.start(false);
    if split > 0 {
        assert_eq!(parser.feed(&bytes[..split], cache, &mut |_| {}), Ok(Parsed::Incomplete));
    }
    parser.feed(&bytes[split..], cache, &mut |_| {}).expect("an answer")
}

fn parse(c: &mut Criterion) {
    let many = (0..30).map(|i| format!("X-Field-{i}: {i}\r\n")).collect::<String>();
    let cases = [
        ("small", answer_with_length(13), 0),
        ("small, head in two pieces", answer_with_length(13), 40),
        ("64 KiB", answer_with_length(65_536), 0),
        ("chunked", answer("Transfer-Encoding: chunked", b"d\r\nHello, world!\r\n0\r\n\r\n"), 0),
        ("30 fields more", answer(&format!("{many}Content-Length: 2"), b"ok"), 0),
    ];
    let mut parser = ResponseParser::new();
    let mut cache = HeadCache::new();
    let mut group = c.benchmark_group("parser");
    group.throughput(Throughput::Elements(1));
    for (name, bytes, split) in &cases {
        assert!(matches!(read(&mut parser, &mut cache, bytes, *split), Parsed::Complete(_)), "{name}");
        group.bench_function(*name, |b| b.iter(|| read(&mut parser, &mut cache, bytes, *split)));
    }
}

criterion_group!(benches, parse);
criterion_main!(benches);
