//! Adds linker arguments that an extension module needs on macOS for symbols that are resolved at load time.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
