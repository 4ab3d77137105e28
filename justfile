# What is done every day. `just --list` shows this.

# Checks one crate, or all
check crate="":
    cargo clippy {{ if crate == "" { "--workspace" } else { "-p " + crate } }} --all-targets -- -D warnings

# Formats everything
format:
    cargo fmt --all

# All Rust tests on SQLite
test *arguments:
    cargo test --workspace {{ arguments }}

# Everything: both engines, client libraries, real data
test-all:
    scripts/test

# A test world in ./.locum
run *arguments:
    cargo run --release -- dev {{ arguments }}

# Speed and memory
bench *arguments:
    scripts/bench {{ arguments }}

# Generated pages and documents, written anew
generate:
    LOCUM_WRITE_GENERATED=1 cargo test --workspace --lib --bins

# What must hold of a commit
gate:
    .ci/run
