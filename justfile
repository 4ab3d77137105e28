# Everyday commands. `just --list` prints them.

# Lint one crate, or all of them
check crate="":
    cargo clippy {{ if crate == "" { "--workspace" } else { "-p " + crate } }} --all-targets -- -D warnings

# Format the code
format:
    cargo fmt --all

# Run all Rust tests on SQLite
test *arguments:
    cargo test --workspace {{ arguments }}

# Run all tests: both databases, client libraries, a browser, real data
test-all:
    scripts/test

# Start a development server in ./.locum
run *arguments:
    cargo run --release -- dev {{ arguments }}

# Measure speed and memory
bench *arguments:
    scripts/bench {{ arguments }}

# Check the naming limits; `just names --worst 40` lists the worst names
names *arguments:
    scripts/check-names {{ arguments }}

# Rewrite the generated documentation
generate:
    LOCUM_WRITE_GENERATED=1 cargo test --workspace --lib --bins

# Run every check that a commit must pass
gate:
    .ci/run
