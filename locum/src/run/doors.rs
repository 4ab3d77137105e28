//! What answers behind each listener.

