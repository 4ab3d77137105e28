//! Open connections that receive posts and events as they happen.
