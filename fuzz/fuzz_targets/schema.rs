//! Schemas of gRPC as servers and files give them, and messages by them: nothing panics, and what is sent for a JSON
//! text is a message that is read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_fuzz::Cut;
use truetail_grpc::{Reflection, Schema, Sketch};

fuzz_target!(|input: &[u8]| {
    let Cut { pieces, .. } = Cut::read(input);
    let whole = pieces.concat();
    let _ = Schema::of_descriptor_set(&whole).map(|schema| look(&schema, &whole));
    for mut reflection in [Reflection::of_all(), Reflection::of_name("p.S")] {
        let _ = reflection.next_body();
        // Each piece is the answer to a call.
        for piece in &pieces {
            if reflection.take(piece).is_err() || !matches!(reflection.next_body(), Ok(Some(_))) {
                break;
            }
        }
        let _ = reflection.into_schema().map(|schema| look(&schema, &whole));
    }
});

fn look(schema: &Schema, bytes: &[u8]) {
    for service in schema.all_services().into_iter().take(20) {
        let Sketch::Service(name, methods) = service else { continue };
        for line in methods.iter().take(20) {
            let method = line.split('(').next().unwrap_or_default();
            let Ok(found) = schema.method(&name, method) else { continue };
            let _ = found.answer_as_json(bytes);
            if let Ok(Sketch::Method(_, sample)) = schema.sketch(&format!("{name}/{method}")) {
                let _ = found.body_of_json(sample.as_bytes());
            }
        }
    }
}
