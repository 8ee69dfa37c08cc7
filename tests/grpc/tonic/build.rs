//! Compiles truth.proto, and keeps its descriptors for reflection.

use std::path::PathBuf;

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=../truth.proto");
    let files = protox::compile(["../truth.proto"], [".."])?;
    let descriptors = PathBuf::from(std::env::var("OUT_DIR")?).join("truth.bin");
    std::fs::write(descriptors, files.encode_to_vec())?;
    tonic_prost_build::configure().build_client(false).compile_fds(files)?;
    Ok(())
}
