//! On macOS an extension module must be told that its symbols come later; `cargo build` does not know that by itself.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
