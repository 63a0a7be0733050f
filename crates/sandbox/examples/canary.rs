//! The helper of the tests, and what they run in the sandbox.

fn main() {
    toolgate_sandbox::helper::run_if_asked();
}
