//! Sessions for people and for other programs: a table, CSV and JSON files, one HTML page.

pub mod files;
pub mod html;
pub mod plot;
pub mod table;
