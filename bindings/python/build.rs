//! On macOS an extension module needs linker arguments for symbols that are resolved at load time; cargo does not add them.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
