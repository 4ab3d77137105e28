//! The advertising interface: each resource declared once, one engine for all of them.
