//! Data in and out: importing archives and lines, exporting lines.
